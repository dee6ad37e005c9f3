import type { Instant } from '../../time/instant.js'
import type { Finished } from '../store.js'
import { endRun, leaveQueue, recordAttempt, UNFINISHED_COLUMNS, type Unfinished } from './end-run.js'
import { admit, releaseGates } from './gates.js'
import { toJson } from './rows.js'
import type { Session } from './session.js'
import { delayed, done, ready, running } from './states.js'

// Relies on: primary key. The fence is run, attempt and state: what an older claim reports finds no row. The id is
// compared since the key of a pruned run may be given to another.
const END_PLAIN = `update runs set state = ${done}, started_at = ?, finished_at = ?, result = ?, reason = null
  where seq = ? and id = ? and attempt = ? and state = ${running}`

// Relies on: the unique index of runs.id.
const CLAIMED = `select ${UNFINISHED_COLUMNS} from runs where id = ? and attempt = ? and state = ${running}`

// Relies on: primary key.
const NOTE_RESULT = `update runs set started_at = ?, result = ?, error = ?, failures = failures + ?,
  crashes = crashes + ? where seq = ?`

const WAIT_AGAIN = `update runs set state = ?, run_at = ?, reason = ?, finished_at = null where seq = ?`

/** Stores a decided attempt where its claim is current. */
export function finish(session: Session, item: Finished, now: Instant): 'stored' | 'stale' {
  const { outcome } = item
  if (outcome.end === 'done' && outcome.state === 'done' && item.attempt === 1) {
    const claim = session.takeClaim(item.run)
    if (claim !== undefined) return finishPlain(session, item, claim)
  }
  return finishAny(session, item, now)
}

/** The usual end: a first attempt that is done, of a run with no gates and no chain, is one statement. */
function finishPlain(
  session: Session,
  item: Finished,
  claim: { seq: number; job: string },
): 'stored' | 'stale' {
  const { startedAt = null, endedAt, run, attempt, outcome } = item
  const result = toJson(outcome.result)
  const stored = session.db.change(END_PLAIN, startedAt, endedAt, result, claim.seq, run, attempt) === 1
  if (stored) leaveQueue(session, claim.job, 1)
  return stored ? 'stored' : 'stale'
}

function finishAny(session: Session, item: Finished, now: Instant): 'stored' | 'stale' {
  const { db } = session
  const run = db.get<Unfinished>(CLAIMED, item.run, item.attempt)
  if (run === undefined) return 'stale'
  const { outcome, startedAt, endedAt } = item
  const { end, error } = outcome
  if (end !== 'done' || item.attempt > 1) recordAttempt(session, run, { startedAt, endedAt, end, error })
  const failures = end === 'failed' || end === 'timed-out' ? 1 : 0
  const crashes = end === 'lost' ? 1 : 0
  db.change(NOTE_RESULT, startedAt ?? null, toJson(outcome.result), toJson(error), failures, crashes, run.seq)
  if (outcome.state !== 'pending') {
    const asked = outcome.state === 'cancelled' ? (run.reason ?? undefined) : undefined
    endRun(session, run, { state: outcome.state, at: endedAt, reason: outcome.reason ?? asked })
  } else if (run.cancel_requested === 1) {
    // Whoever asked for the end was promised it; another try would break that.
    endRun(session, run, { state: 'cancelled', at: endedAt, reason: run.reason ?? undefined })
  } else {
    leaveQueue(session, run.job, 1)
    waitAgain(session, run, { runAt: outcome.runAt ?? now, now, reason: outcome.reason })
  }
  return 'stored'
}

/** Makes a run that held its gates or was final wait again; what waits at its gates goes first. */
export function waitAgain(
  session: Session,
  run: Pick<Unfinished, 'seq' | 'job' | 'state' | 'gates'>,
  wait: { runAt: Instant; now: Instant; reason: string | undefined },
): void {
  const isDue = wait.runAt <= wait.now
  const state = isDue && run.gates === null ? ready : delayed
  session.db.change(WAIT_AGAIN, state, wait.runAt, wait.reason ?? null, run.seq)
  if (run.gates === null) return
  if (run.state === running) releaseGates(session, run.gates)
  if (isDue) admit(session, { seq: run.seq, job: run.job, gates: run.gates })
}
