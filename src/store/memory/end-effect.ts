import {
  arrivalOf,
  arrives,
  notesAfter,
  notesBehind,
  wakesItsTrigger,
  type EndedRun,
} from '../../kernel/run/end-effect.js'
import type { FinalState, Follow } from '../../kernel/run/run.js'
import type { Instant } from '../../time/instant.js'
import { moveLook } from './looks.js'
import { stateEntryAt, writeStateEntry } from './state.js'
import { stateOf, type RunRow, type Tables, type TriggerRow } from './tables.js'

/** Moves what the end of a run moves besides itself. */
export function followEnd(tables: Tables, row: RunRow): void {
  const { follow } = row
  if (follow === undefined) return
  if (follow === 'chain') continueChain(tables, row)
  else writeFollow(tables, follow, endedRun(row))
}

function endedRun(row: RunRow): EndedRun {
  const { id, job, trigger, partition, dueAt, startedAt, error, reason } = row
  const state = stateOf(row.phase) as FinalState
  return {
    id,
    job,
    trigger,
    partition,
    dueAt,
    startedAt,
    error,
    reason,
    state,
    at: row.finishedAt as Instant,
  }
}

function writeFollow(tables: Tables, follow: Follow, run: EndedRun): void {
  const values = notesBehind(follow, run).map((key) => stateEntryAt(tables, key)?.value)
  for (const change of notesAfter(follow, run, values)) writeStateEntry(tables, change, run.at)
  const own = tables.triggers.get(run.trigger ?? '')
  if (wakesItsTrigger(follow) && own?.active === true) lookAt(tables, own, run.at)
  if (!arrives(follow, run.state)) return
  for (const trigger of tables.followers.get(run.job) ?? []) {
    writeStateEntry(tables, arrivalOf(trigger.trigger.name, run), run.at)
    // No new revision: under a steady stream of arrivals no tick would ever be current.
    moveLook(tables, trigger, Math.min(run.at, trigger.nextAt ?? run.at))
  }
}

/** A tick computed before this end finds itself stale. */
function lookAt(tables: Tables, row: TriggerRow, at: Instant): void {
  row.revision++
  moveLook(tables, row, Math.min(at, row.nextAt ?? at))
}

/** The first end of a chained run gives its trigger the next due instant; a run that was retried does not do it again. */
function continueChain(tables: Tables, row: RunRow): void {
  row.follow = undefined
  const trigger = tables.triggers.get(row.trigger ?? '')
  const isItsChain = trigger?.active === true && trigger.chainRun === row.id
  if (!isItsChain || trigger.trigger.schedule.kind !== 'after-finish') return
  trigger.revision++
  moveLook(tables, trigger, (row.finishedAt as Instant) + trigger.trigger.schedule.everyMs)
}
