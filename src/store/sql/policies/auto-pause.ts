import { autoPauseNotice, watchKey } from '../../../kernel/alert/notice.js'
import { holdSnapshot } from '../../../kernel/audit/snapshot.js'
import { autoPause, isFailingInARow, pastRunsBeside } from '../../../kernel/hold/auto-pause.js'
import type { Trigger } from '../../../kernel/trigger/trigger.js'
import type { Instant } from '../../../time/instant.js'
import { putEntry } from '../audit.js'
import { hold, holds } from '../planning/holds.js'
import { errorOf, originCode, orUndefined } from '../rows/run-rows.js'
import { done, failed } from '../rows/states.js'
import { FROM_TRIGGERS } from '../rows/trigger-rows.js'
import type { RunEnd, Unfinished } from '../rows/unfinished.js'
import type { Session } from '../session.js'
import { stateValue, writeStateEntry } from '../state.js'
import type { Verb } from '../verb.js'

// Relies on: the primary keys of triggers and versions.
const DEFINITION = `select versions.definition ${FROM_TRIGGERS} where triggers.name = $1 and triggers.is_active = 1`

/** Runs of a backfill say nothing about current runs. */
const ownRuns = `origin <> ${originCode('backfill')}`

// Relies on: primary key.
const FAILED = `select due_at, error from rota.runs where seq = $1 and ${ownRuns}`

// Each relies on: runs_trigger. Runs that are due much later than the failed one are not read: they may be many.
const EARLIER = `select state, finished_at from rota.runs where trigger = $1 and due_at <= $2 and ${ownRuns}
  order by due_at desc, id desc limit $3`
const LATER = `select state, finished_at from rota.runs where trigger = $1 and due_at > $2 and ${ownRuns}
  order by due_at, id limit $3`

// Relies on: holds_target.
const LET_GO = `select max(until_at) from rota.holds where target = $1 and until_at <= $2`

interface PastRow {
  readonly state: number
  readonly finished_at: number | null
}

/** Pauses the trigger of a failed run, if it has failed `pauseAfter` times in a row. */
export function* pauseFailing(session: Session, run: Unfinished, end: RunEnd): Verb<void> {
  const { trigger } = run
  if (trigger === null) return
  const definition = yield* session.sql.value<string>(DEFINITION, trigger)
  const { pauseAfter } = definition === undefined ? {} : (JSON.parse(definition) as Partial<Trigger>)
  if (pauseAfter === undefined) return
  // Of two runs that fail at the same time, the second one sees the first.
  yield* session.native.lockEntries([{ kind: 'looked', name: trigger, item: 'auto-pause' }])
  const row = yield* session.sql.get<{ due_at: number; error: string | null }>(FAILED, run.seq)
  if (row === undefined) return
  const later = yield* session.sql.all<PastRow>(LATER, trigger, row.due_at, pastRunsBeside)
  const earlier = yield* session.sql.all<PastRow>(EARLIER, trigger, row.due_at, pauseAfter + pastRunsBeside)
  const sinceAt = yield* session.sql.value<Instant>(LET_GO, `trigger:${trigger}`, end.at)
  const runs = [...later.toReversed(), ...earlier].map(({ state, finished_at: finishedAt }) => ({
    isFailed: state === failed,
    counts: state === failed || state === done,
    finishedAt: orUndefined(finishedAt),
  }))
  if (!isFailingInARow(runs, { pauseAfter, sinceAt: sinceAt ?? undefined })) return
  const paused = autoPause({ trigger, pauseAfter, run, error: errorOf(row.error), at: end.at })
  if ((yield* hold(session, paused.hold)) === 'already') return
  const [open] = yield* holds(session, { target: paused.hold.target, openAt: end.at })
  yield* putEntry(session, { ...paused.entry, before: undefined, after: holdSnapshot(open) })
  const { id, job } = run
  const about = { trigger, job, run: id, at: end.at, note: paused.hold.note }
  const notice = autoPauseNotice(about, yield* stateValue(session, watchKey))
  if (notice !== undefined) yield* writeStateEntry(session, notice, end.at)
  session.tell('anything')
}
