import type { Instant } from '../../time/instant.js'
import type { Job } from '../job/job.js'
import type { Json } from '../definition/json.js'
import { retryDelayMs } from '../job/retry.js'
import type { RetryAdvice } from '../job/thrown.js'
import {
  quarantinedReason,
  snoozedReason,
  retryAfterReason,
  type AttemptEnd,
  type FinalState,
  type StoredError,
} from './run.js'

/** The result of an attempt, before a decision about its run. */
export type AttemptResult =
  | { readonly kind: 'done'; readonly result: Json | undefined }
  | { readonly kind: 'failed'; readonly error: StoredError; readonly advice: RetryAdvice }
  | { readonly kind: 'snoozed'; readonly forMs: number; readonly reason: string }
  | { readonly kind: 'timed-out'; readonly error: StoredError }
  | { readonly kind: 'lost'; readonly error: StoredError }
  | { readonly kind: 'released' }
  | { readonly kind: 'cancelled'; readonly error: StoredError }

/** The decided result of an attempt, ready to store. */
export interface Outcome {
  readonly end: AttemptEnd
  /** The new state of the run: a final state, or pending again. */
  readonly state: FinalState | 'pending'
  /** When a pending run may be claimed again. */
  readonly runAt?: Instant | undefined
  readonly result?: Json | undefined
  readonly error?: StoredError | undefined
  readonly reason?: string | undefined
}

/** How often a run was tried before this attempt ended. */
export interface TriesSoFar {
  readonly id: string
  readonly dueAt: Instant
  readonly failures: number
  readonly crashes: number
}

/** Decides what the result of an attempt means for its run. Pure, so that crashes and retries use the same code. */
export function decide(
  result: AttemptResult,
  context: {
    readonly run: TriesSoFar
    readonly job: Pick<Job, 'retry' | 'maxCrashes'>
    readonly now: Instant
  },
): Outcome {
  switch (result.kind) {
    case 'done':
      return { end: 'done', state: 'done', result: result.result }
    case 'cancelled':
      return { end: 'cancelled', state: 'cancelled', error: result.error }
    case 'released':
      return { end: 'released', state: 'pending', runAt: placeOf(context) }
    case 'failed':
      return afterFailure({ end: 'failed', error: result.error, advice: result.advice }, context)
    case 'snoozed':
      return {
        end: 'snoozed',
        state: 'pending',
        runAt: context.now + result.forMs,
        reason: result.reason === '' ? snoozedReason : `${snoozedReason}: ${result.reason}`,
      }
    case 'timed-out':
      return afterFailure({ end: 'timed-out', error: result.error, advice: {} }, context)
    case 'lost':
      return afterLoss(result.error, context)
  }
}

type Context = Parameters<typeof decide>[1]

/** An interrupted run keeps its place in the queue: later runs of its trigger wait behind it. */
function placeOf({ run, now }: Context): Instant {
  return Math.min(run.dueAt, now)
}

function afterFailure(
  failure: { end: 'failed' | 'timed-out'; error: StoredError; advice: RetryAdvice },
  { run, job, now }: Context,
): Outcome {
  const failures = run.failures + 1
  const { end, error, advice } = failure
  if (advice.permanent === true)
    return { end, state: 'failed', error, reason: 'not retried: the handler threw a permanent error' }
  const refused = job.retry.not?.find((kind) => kind === error.code || advice.kinds?.includes(kind) === true)
  if (refused !== undefined)
    return { end, state: 'failed', error, reason: `not retried: its job does not retry ${refused}` }
  if (failures >= job.retry.attempts) return { end, state: 'failed', error }
  if (advice.retryAfterMs !== undefined)
    return { end, state: 'pending', error, runAt: now + advice.retryAfterMs, reason: retryAfterReason }
  return { end, state: 'pending', error, runAt: now + retryDelayMs(job.retry, failures, run.id) }
}

function afterLoss(error: StoredError, { run, job, now }: Context): Outcome {
  if (run.crashes + 1 < job.maxCrashes)
    return { end: 'lost', state: 'pending', error, runAt: placeOf({ run, job, now }) }
  return { end: 'lost', state: 'failed', error: { ...error, code: 'QUARANTINED' }, reason: quarantinedReason }
}
