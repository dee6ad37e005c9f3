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
const END = `update rota.runs
  set state = $1, finished_at = $2, reason = $3, waits_for = null,
    follow = case when follow = ${chainCode} then null else follow end where seq = $4`

const LEAVE_QUEUE = `update rota.queues set running = running - $1 where name = $2`

// Relies on: primary key.
const RECORD_ATTEMPT = `insert into rota.attempts
    (run, attempt, worker, claimed_at, started_at, ended_at, ended, error)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`

/** Makes an unfinished run final, with all that follows: its gates, its queue's count, and what else its end moves. */
export async function endRun(session: Session, run: Unfinished, end: RunEnd): Promise<void> {
  await session.db.change(END, finalCodes[end.state], end.at, end.reason ?? null, run.seq)
  if (run.state === running) await leaveQueue(session, run.job, 1)
  if (run.gates !== null) {
    if (run.state === ready || run.state === running) await releaseGates(session, run.gates)
    else if (run.state === blocked) await leaveGates(session, run.gates)
  }
  if (run.follow !== null) await applyEndEffect(session, run, end)
}

/** Takes runs of a job off the count of its queue, if that one is limited. */
export async function leaveQueue(session: Session, job: string, count: number): Promise<void> {
  const queue = limitedQueueOf(await session.catalogNow(), job)
  if (queue === undefined) return
  session.beExclusive()
  session.hasNews = true
  await session.db.change(LEAVE_QUEUE, count, queue)
}

/** Writes down how the newest attempt of a run ended. */
export async function recordAttempt(
  session: Session,
  run: Unfinished,
  end: { startedAt: Instant | undefined; endedAt: Instant; end: string; error: StoredError | undefined },
): Promise<void> {
  const error = end.error === undefined ? null : JSON.stringify(end.error)
  const { startedAt = null, endedAt } = end
  const claim = [run.seq, run.attempt, run.worker, run.claimed_at] as const
  await session.db.change(RECORD_ATTEMPT, ...claim, startedAt, endedAt, end.end, error)
}
