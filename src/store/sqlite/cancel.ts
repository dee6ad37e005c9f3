import type { RunId } from '../../kernel/identity/identity.js'
import { removedReason } from '../../kernel/run/run.js'
import type { Instant } from '../../time/instant.js'
import { cancelled, delayed, done, failed, running } from '../sql/rows/states.js'
import { UNFINISHED_COLUMNS, type Unfinished } from '../sql/rows/unfinished.js'
import { endRun, recordAttempt } from './end-run.js'
import { waitAgain } from './finish.js'
import type { Session } from './session.js'

// Relies on: the unique index of runs.id.
const RUN = `select ${UNFINISHED_COLUMNS} from runs where id = ?`

// Relies on: the unique index of runs.id.
const WAITING = `select ${UNFINISHED_COLUMNS}, run_at from runs where id = ?`

// Relies on: primary key.
const REQUEST = `update runs set cancel_requested = 1, reason = ? where seq = ?`

const TELL = `insert into notices (worker, run, attempt, kind) values (?, ?, ?, ?)`

const FRESH_BUDGET = `update runs set failures = 0, crashes = 0, cancel_requested = null, error = null where seq = ?`

// Relies on: runs_unfinished.
const UNFINISHED_OF_TRIGGER = `select id from runs where trigger = ? and state < ${done} order by id`

/** Cancels a pending run, or asks the holder of a running one. */
export function cancel(
  session: Session,
  request: { run: RunId; now: Instant; reason: string },
): 'cancelled' | 'requested' | 'final' | 'absent' {
  const run = session.db.get<Unfinished>(RUN, request.run)
  if (run === undefined) return 'absent'
  if (run.state >= done) return 'final'
  if (run.state === running) {
    requestCancel(session, run, request.reason)
    return 'requested'
  }
  endRun(session, run, { state: 'cancelled', at: request.now, reason: request.reason })
  return 'cancelled'
}

/** Gives a failed or cancelled run a fresh budget and lets it wait again. */
export function retry(
  session: Session,
  request: { run: RunId; now: Instant },
): 'pending' | 'not-final' | 'absent' {
  const run = session.db.get<Unfinished>(RUN, request.run)
  if (run === undefined) return 'absent'
  if (run.state !== failed && run.state !== cancelled) return 'not-final'
  session.db.change(FRESH_BUDGET, run.seq)
  waitAgain(session, run, { runAt: request.now, now: request.now, reason: undefined })
  return 'pending'
}

/** Lets a delayed run be claimed before its instant. */
export function advance(
  session: Session,
  request: { run: RunId; now: Instant },
): 'advanced' | 'not-waiting' | 'absent' {
  const { now } = request
  const run = session.db.get<Unfinished & { run_at: Instant }>(WAITING, request.run)
  if (run === undefined) return 'absent'
  if (run.state !== delayed || run.run_at <= now) return 'not-waiting'
  waitAgain(session, run, { runAt: now, now, reason: undefined })
  return 'advanced'
}

/** Cancels the runs of a trigger that still wait; one that is being performed may finish, and does not wait again. */
export function cancelPending(session: Session, trigger: string, now: Instant): void {
  for (const run of unfinishedOf(session, trigger)) {
    if (run.state !== running) endRun(session, run, { state: 'cancelled', at: now, reason: removedReason })
    else if (run.cancel_requested !== 1) session.db.change(REQUEST, removedReason, run.seq)
  }
}

/** Ends or stops the older unfinished runs of a trigger. */
export function supersede(
  session: Session,
  request: {
    trigger: string
    mode: 'cancel' | 'terminate'
    by: RunId
    own: ReadonlySet<RunId>
    now: Instant
  },
): void {
  const { mode, now } = request
  const reason = `superseded by ${request.by}`
  for (const run of unfinishedOf(session, request.trigger)) {
    if (request.own.has(run.id)) continue
    if (run.state !== running) endRun(session, run, { state: 'cancelled', at: now, reason })
    else if (mode === 'cancel') requestCancel(session, run, reason)
    else terminate(session, run, { at: now, reason })
  }
}

/** Each row is read when its turn comes: the end of the one before may have let it in. */
function* unfinishedOf(session: Session, trigger: string): Generator<Unfinished> {
  for (const { id } of session.db.all<{ id: string }>(UNFINISHED_OF_TRIGGER, trigger)) {
    const run = session.db.get<Unfinished>(RUN, id)
    if (run !== undefined) yield run
  }
}

/** Asks the holder of a running run to stop, once. */
function requestCancel(session: Session, run: Unfinished, reason: string): void {
  // The removal of a trigger asks for no stop.
  if (run.cancel_requested === 1 && run.reason !== removedReason) return
  session.db.change(REQUEST, reason, run.seq)
  session.db.change(TELL, run.worker, run.id, run.attempt, 'cancel')
}

/** Closes a claim at once: its holder is told to stop, and nothing it says later counts. */
function terminate(session: Session, run: Unfinished, end: { at: Instant; reason: string }): void {
  session.db.change(TELL, run.worker, run.id, run.attempt, 'terminate')
  recordAttempt(session, run, { startedAt: undefined, endedAt: end.at, end: 'cancelled', error: undefined })
  endRun(session, run, { state: 'cancelled', ...end })
}
