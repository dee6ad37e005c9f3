import { autoPauseNotice, watchKey } from '../../../kernel/alert/notice.js'
import { holdSnapshot } from '../../../kernel/audit/snapshot.js'
import { autoPause, isFailingInARow, pastRunsBeside } from '../../../kernel/hold/auto-pause.js'
import type { Instant } from '../../../time/instant.js'
import { putEntry } from '../audit/entries.js'
import { hold, holdsOn, toHold } from '../holds.js'
import { stateEntryAt, writeStateEntry } from '../state.js'
import { runsOfTrigger, type RunRow, type Tables } from '../tables.js'

/** Pauses the trigger of a failed run, if it has failed `pauseAfter` times in a row. */
export function pauseFailing(tables: Tables, row: RunRow): void {
  const trigger = tables.triggers.get(row.trigger ?? '')
  const pauseAfter = trigger?.active === true ? trigger.trigger.pauseAfter : undefined
  // Runs of a backfill say nothing about current runs.
  if (trigger === undefined || pauseAfter === undefined || row.origin === 'backfill') return
  const { name } = trigger.trigger
  const target = `trigger:${name}` as const
  const at = row.finishedAt as Instant
  const { all } = runsOfTrigger(tables, name)
  const isUpTo = (other: RunRow): boolean => other.dueAt <= row.dueAt
  const later = firstOwn(all.from(isUpTo), pastRunsBeside)
  const earlier = firstOwn(all.backwards(isUpTo), pauseAfter + pastRunsBeside)
  const runs = [...later.toReversed(), ...earlier].map(({ phase, finishedAt }) => ({
    isFailed: phase === 'failed',
    counts: phase === 'failed' || phase === 'done',
    finishedAt,
  }))
  const ends = holdsOn(tables, target).flatMap(({ untilAt = Infinity }) => (untilAt <= at ? untilAt : []))
  if (!isFailingInARow(runs, { pauseAfter, sinceAt: ends.length === 0 ? undefined : Math.max(...ends) }))
    return
  const { id, attempt, error } = row
  const paused = autoPause({ trigger: name, pauseAfter, run: { id, attempt }, error, at })
  if (hold(tables, paused.hold) === 'already') return
  const open = holdsOn(tables, target).at(-1)
  const after = holdSnapshot(open === undefined ? undefined : toHold(open))
  putEntry(tables, { ...paused.entry, before: undefined, after, seq: tables.lastAudit + 1 })
  const about = { trigger: name, job: row.job, run: id, at, note: paused.hold.note }
  const notice = autoPauseNotice(about, stateEntryAt(tables, watchKey)?.value)
  if (notice !== undefined) writeStateEntry(tables, notice, at)
}

function firstOwn(rows: Iterable<RunRow>, most: number): RunRow[] {
  const found: RunRow[] = []
  for (const row of rows) {
    if (found.length === most) break
    if (row.origin !== 'backfill') found.push(row)
  }
  return found
}
