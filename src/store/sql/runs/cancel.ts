import type { RunId } from '../../../kernel/identity/identity.js'
import { removedReason } from '../../../kernel/run/run.js'
import type { Instant } from '../../../time/instant.js'
import { OF_BACKFILL } from '../rows/run-rows.js'
import { cancelled, delayed, done, failed, running } from '../rows/states.js'
import { UNFINISHED_COLUMNS, type Unfinished } from '../rows/unfinished.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'
import { endRun, recordAttempt, waitAgain } from './end-run.js'

// Relies on: the unique index of runs.id. The transaction is the only writer, so the row stays as it was read.
const RUN = `select ${UNFINISHED_COLUMNS}, run_at from rota.runs where id = $1`

// Relies on: primary key.
const REQUEST = `update rota.runs set cancel_requested = 1, reason = $1 where seq = $2`

const TELL = `insert into rota.notices (worker, run, attempt, kind) values ($1, $2, $3, $4)`

const FRESH_BUDGET = `update rota.runs set failures = 0, crashes = 0, cancel_requested = null, error = null
  where seq = $1`

// Relies on: runs_unfinished.
const UNFINISHED_OF_TRIGGER = `select id from rota.runs where trigger = $1 and state < ${done} order by id`

// Relies on: runs_unfinished. Runs of a backfill are not superseded by runs that are due now.
const SUPERSEDED = `select id from rota.runs where trigger = $1 and state < ${done}
  and ${OF_BACKFILL} = 0 order by id`

/** Cancels a pending run, or asks the holder of a running one. */
export function* cancel(
  session: Session,
  request: { run: RunId; now: Instant; reason: string },
): Verb<'cancelled' | 'requested' | 'final' | 'absent'> {
  session.beExclusive()
  const run = yield* session.sql.get<Unfinished>(RUN, request.run)
  if (run === undefined) return 'absent'
  if (run.state >= done) return 'final'
  session.tell('anything')
  if (run.state === running) {
    yield* requestCancel(session, run, request.reason)
    return 'requested'
  }
  yield* endRun(session, run, { state: 'cancelled', at: request.now, reason: request.reason })
  return 'cancelled'
}

/** Makes a failed or cancelled run pending again, with all its tries. */
export function* retry(
  session: Session,
  { run: id, now }: { run: RunId; now: Instant },
): Verb<'pending' | 'not-final' | 'absent'> {
  session.beExclusive()
  const run = yield* session.sql.get<Unfinished>(RUN, id)
  if (run === undefined) return 'absent'
  if (run.state !== failed && run.state !== cancelled) return 'not-final'
  yield* session.sql.change(FRESH_BUDGET, run.seq)
  yield* waitAgain(session, run, { runAt: now, now, reason: undefined })
  return 'pending'
}

/** Makes a delayed run claimable before its instant. */
export function* advance(
  session: Session,
  { run: id, now }: { run: RunId; now: Instant },
): Verb<'advanced' | 'not-waiting' | 'absent'> {
  session.beExclusive()
  const run = yield* session.sql.get<Unfinished & { run_at: Instant }>(RUN, id)
  if (run === undefined) return 'absent'
  if (run.state !== delayed || run.run_at <= now) return 'not-waiting'
  yield* waitAgain(session, run, { runAt: now, now, reason: undefined })
  return 'advanced'
}

/** Cancels the pending runs of a removed trigger; a running one may finish, and is not retried. */
export function* cancelPending(session: Session, trigger: string, now: Instant): Verb<void> {
  for (const { id } of yield* session.sql.all<{ id: string }>(UNFINISHED_OF_TRIGGER, trigger)) {
    const run = yield* unfinished(session, id)
    if (run.state !== running)
      yield* endRun(session, run, { state: 'cancelled', at: now, reason: removedReason })
    else if (run.cancel_requested !== 1) yield* session.sql.change(REQUEST, removedReason, run.seq)
  }
}

/** Ends or stops the older unfinished runs of a trigger. */
export function* supersede(
  session: Session,
  request: {
    trigger: string
    mode: 'cancel' | 'terminate'
    by: RunId
    own: ReadonlySet<RunId>
    now: Instant
  },
): Verb<void> {
  const { mode, now } = request
  const reason = `superseded by ${request.by}`
  for (const { id } of yield* session.sql.all<{ id: string }>(SUPERSEDED, request.trigger)) {
    if (request.own.has(id)) continue
    const run = yield* unfinished(session, id)
    if (run.state !== running) yield* endRun(session, run, { state: 'cancelled', at: now, reason })
    else if (mode === 'cancel') yield* requestCancel(session, run, reason)
    else yield* terminate(session, run, { at: now, reason })
  }
}

/** Reads a run again, because the end of the previous one may have admitted it. */
function* unfinished(session: Session, id: RunId): Verb<Unfinished> {
  return (yield* session.sql.get<Unfinished>(RUN, id)) as Unfinished
}

/** Asks the holder of a running run to stop, once. */
function* requestCancel(session: Session, run: Unfinished, reason: string): Verb<void> {
  // The removal of a trigger does not ask its worker to stop.
  if (run.cancel_requested === 1 && run.reason !== removedReason) return
  yield* session.sql.change(REQUEST, reason, run.seq)
  yield* notifyHolder(session, run, 'cancel')
}

/** Writes a notice to the worker that performs a run. It may be full: news about runs would not wake it. */
function* notifyHolder(session: Session, run: Unfinished, kind: 'cancel' | 'terminate'): Verb<void> {
  session.tell('anything')
  yield* session.sql.change(TELL, run.worker, run.id, run.attempt, kind)
}

/** Closes a claim immediately: its worker gets a notice to stop, and a later result is refused. */
function* terminate(
  session: Session,
  run: Unfinished,
  { at, reason }: { at: Instant; reason: string },
): Verb<void> {
  yield* notifyHolder(session, run, 'terminate')
  yield* recordAttempt(session, run, {
    startedAt: undefined,
    endedAt: at,
    end: 'cancelled',
    error: undefined,
  })
  yield* endRun(session, run, { state: 'cancelled', at, reason })
}
