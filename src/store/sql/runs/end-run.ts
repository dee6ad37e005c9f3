import type { StoredError } from '../../../kernel/run/run.js'
import type { Instant } from '../../../time/instant.js'
import { limitedQueueOf } from '../catalog.js'
import { chainCodeList, toJson } from '../rows/run-rows.js'
import { blocked, delayed, isParked, ready, running } from '../rows/states.js'
import { finalCodes, type RunEnd, type Unfinished } from '../rows/unfinished.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'
import { admit, leaveSlots, releaseSlots } from './concurrency-slots.js'
import { pauseFailing } from '../policies/auto-pause.js'
import { sendDeadLetter } from '../policies/dead-letter.js'
import { applyEndEffect, noteFailure } from './end-effect.js'

// Relies on: primary key. Only the first end of a chained run continues its chain, so the mark is removed with it.
const END = `update rota.runs set state = $1, finished_at = $2, reason = $3, waits_for = null,
    follow = case when follow in (${chainCodeList}) then nullif(follow - 1, 0) else follow end where seq = $4`

const LEAVE_QUEUE = `update rota.queues set running = running - $1 where name = $2`

// Relies on: primary key.
const RECORD_ATTEMPT = `insert into rota.attempts
    (run, attempt, worker, claimed_at, started_at, ended_at, ended, error)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`

// Relies on: primary key.
const WAIT_AGAIN = `update rota.runs set state = $1, run_at = $2, reason = $3, finished_at = null where seq = $4`

/** Makes an unfinished run final and frees its slots and its place in the queue; then its end effect is applied. */
export function* endRun(session: Session, run: Unfinished, end: RunEnd): Verb<void> {
  yield* session.sql.change(END, finalCodes[end.state], end.at, end.reason ?? null, run.seq)
  if (run.state === running) yield* leaveQueue(session, run.job, 1)
  if (run.gates !== null) {
    const hasSlots = run.state === ready || run.state === running || isParked(run.waits_for)
    if (hasSlots) yield* releaseSlots(session, run.gates)
    else if (run.state === blocked) yield* leaveSlots(session, run.gates)
  }
  if (end.state === 'failed') yield* noteFailure(session, run, end)
  if (run.follow !== null) yield* applyEndEffect(session, run, end)
  if (end.state !== 'failed') return
  yield* sendDeadLetter(session, run, end)
  yield* pauseFailing(session, run, end)
}

/** Subtracts runs of a job from the count of its queue, if that is limited. */
export function* leaveQueue(session: Session, job: string, count: number): Verb<void> {
  const queue = limitedQueueOf(yield* session.catalog(), job)
  if (queue === undefined) return
  yield* session.native.lockQueue(queue)
  session.tell('runs')
  yield* session.sql.change(LEAVE_QUEUE, count, queue)
}

/** Records how the newest attempt of a run ended. */
export function* recordAttempt(
  session: Session,
  run: Unfinished,
  end: { startedAt: Instant | undefined; endedAt: Instant; end: string; error: StoredError | undefined },
): Verb<void> {
  const { startedAt = null, endedAt } = end
  const claim = [run.seq, run.attempt, run.worker, run.claimed_at] as const
  yield* session.sql.change(RECORD_ATTEMPT, ...claim, startedAt, endedAt, end.end, toJson(end.error))
}

/** Makes a running or final run pending again; runs that wait for its slots go first. */
export function* waitAgain(
  session: Session,
  run: Pick<Unfinished, 'seq' | 'job' | 'state' | 'gates'>,
  wait: { runAt: Instant; now: Instant; reason: string | undefined },
): Verb<void> {
  const isDue = wait.runAt <= wait.now
  const state = isDue && run.gates === null ? ready : delayed
  session.tell('runs')
  yield* session.sql.change(WAIT_AGAIN, state, wait.runAt, wait.reason ?? null, run.seq)
  if (run.gates === null) return
  if (run.state === running) yield* releaseSlots(session, run.gates)
  if (isDue) yield* admit(session, { seq: run.seq, job: run.job, gates: run.gates })
}
