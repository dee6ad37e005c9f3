import type { StoredError } from '../../kernel/run/run.js'
import type { Instant } from '../../time/instant.js'
import { limitedQueueOf } from '../sql/catalog.js'
import { chainCode } from '../sql/rows/run-rows.js'
import { blocked, ready, running } from '../sql/rows/states.js'
import { finalCodes, type RunEnd, type Unfinished } from '../sql/rows/unfinished.js'
import { applyEndEffect } from './end-effect.js'
import { leaveGates, releaseGates } from './gates.js'
import type { Session } from './session.js'

// Relies on: primary key. Only the first end of a chained run continues its chain, so that mark goes with it.
const END = `update runs
  set state = ?, finished_at = ?, reason = ?, waits_for = null,
    follow = case when follow = ${chainCode} then null else follow end where seq = ?`

const LEAVE_QUEUE = `update queues set running = running - ? where name = ?`

// Relies on: primary key.
const RECORD_ATTEMPT = `insert into attempts (run, attempt, worker, claimed_at, started_at, ended_at, ended, error)
  values (?, ?, ?, ?, ?, ?, ?, ?)`

/** Makes an unfinished run final, with all that follows: its gates, its queue's count, and what else its end moves. */
export function endRun(session: Session, run: Unfinished, end: RunEnd): void {
  const { db } = session
  db.change(END, finalCodes[end.state], end.at, end.reason ?? null, run.seq)
  if (run.state === running) leaveQueue(session, run.job, 1)
  if (run.gates !== null) {
    if (run.state === ready || run.state === running) releaseGates(session, run.gates)
    else if (run.state === blocked) leaveGates(session, run.gates)
  }
  if (run.follow !== null) applyEndEffect(session, run, end)
}

/** Takes runs of a job off the count of its queue, if that one is limited. */
export function leaveQueue(session: Session, job: string, count: number): void {
  const queue = limitedQueueOf(session.catalogNow, job)
  if (queue !== undefined) session.db.change(LEAVE_QUEUE, count, queue)
}

/** Writes down how the newest attempt of a run ended. */
export function recordAttempt(
  session: Session,
  run: Unfinished,
  end: { startedAt: Instant | undefined; endedAt: Instant; end: string; error: StoredError | undefined },
): void {
  const error = end.error === undefined ? null : JSON.stringify(end.error)
  const { db } = session
  const { startedAt = null, endedAt } = end
  db.change(
    RECORD_ATTEMPT,
    run.seq,
    run.attempt,
    run.worker,
    run.claimed_at,
    startedAt,
    endedAt,
    end.end,
    error,
  )
}
