import type { Instant } from '../../time/instant.js'
import type { RunId } from '../identity/identity.js'
import type { Json } from '../definition/json.js'
import type { Burst } from './burst.js'
import type { SlaRule } from '../sla/sla.js'

/** The state of a run; a due instant that never became a run is in the ledger instead. */
export type RunState = 'pending' | 'running' | 'done' | 'failed' | 'cancelled'

/** The states in which nothing more happens to a run. */
export type FinalState = 'done' | 'failed' | 'cancelled'

/** The reason of a run that was cancelled with its trigger. A running one may finish, but is not retried. */
export const removedReason = 'removed'

/** The reason of a run that crashed its workers too often. */
export const quarantinedReason = 'quarantined'

/** The reason of a run that its handler snoozed; the handler's own text follows after a colon. */
export const snoozedReason = 'snoozed'

/** The reason of a run whose error set the time of the next attempt. */
export const retryAfterReason = 'its error said when to try again'

/** Whether nothing more will happen to a run in this state. */
export function isFinal(state: RunState): state is FinalState {
  return state === 'done' || state === 'failed' || state === 'cancelled'
}

/** How one attempt ended. */
export type AttemptEnd = 'done' | 'failed' | 'timed-out' | 'lost' | 'released' | 'cancelled' | 'snoozed'

/** What created a run: a due instant, `enqueue`, a manual call, a sensor, a round, an upstream asset, or a backfill. */
export type RunOrigin = 'trigger' | 'enqueue' | 'manual' | 'sensor' | 'round' | 'upstream' | 'backfill'

/** An error as it is stored: plain data of bounded size. */
export interface StoredError {
  readonly code: string
  readonly message: string
  readonly stack?: string | undefined
  /** Data for programs, such as the step of a pipeline that failed. */
  readonly details?: Json | undefined
}

/** A slot that a run takes while it is ready or running: at most `limit` runs have one with this key. */
export interface ConcurrencySlot {
  readonly key: string
  readonly limit: number
}

/** A run that is about to be recorded. */
export interface NewRun {
  readonly id: RunId
  readonly job: string
  readonly origin: RunOrigin
  readonly trigger?: string | undefined
  readonly version?: number | undefined
  readonly dueAt: Instant
  readonly runAt: Instant
  readonly priority: number
  readonly partition?: string | undefined
  readonly payload?: Json | undefined
  readonly slots: readonly ConcurrencySlot[]
  /** The name of its end effect. */
  readonly endEffect?: string | undefined
  readonly uniqueKey?: string | undefined
  /** Until when the unique key is taken, even after the run is final. */
  readonly uniqueUntil?: Instant | undefined
  /** What happens if another run already has its unique key. */
  readonly burst?: Burst | undefined
  /** Names that other programs have for it (`job_id`, `run_id` …). */
  readonly labels?: Labels | undefined
  /** The deadlines of its SLA; written when it is recorded. */
  readonly deadlines?: readonly RunDeadline[] | undefined
}

/** One deadline of a run. */
export interface RunDeadline {
  readonly rule: SlaRule
  /** Whose promise it is. */
  readonly of: 'trigger' | 'round' | 'job' | 'asset'
  readonly name: string
  readonly deadlineAt: Instant
  /** The promised time from its due instant on, if the promise is a duration. */
  readonly withinMs: number | null
}

/** A run as the store has it. */
export interface Run {
  readonly id: RunId
  readonly job: string
  readonly origin: RunOrigin
  readonly trigger: string | undefined
  readonly version: number | undefined
  readonly dueAt: Instant
  readonly runAt: Instant
  readonly state: RunState
  readonly priority: number
  readonly partition: string | undefined
  readonly payload: Json | undefined
  readonly uniqueKey: string | undefined
  /** How often it was claimed; also the number of the newest attempt. */
  readonly attempt: number
  /** How many attempts failed or timed out. */
  readonly failures: number
  /** How many attempts were lost with their worker. */
  readonly crashes: number
  /** The worker that holds it, while it is running. */
  readonly worker: string | undefined
  /** The concurrency slots that it needs. */
  readonly slots: readonly ConcurrencySlot[]
  /** The key of the slot that it waits for, while other runs have it. */
  readonly waitsFor: string | undefined
  /** Whether no attempt follows the current one: its holder was asked to stop, or its trigger was removed. */
  readonly cancelRequested: boolean
  readonly createdAt: Instant
  readonly claimedAt: Instant | undefined
  readonly startedAt: Instant | undefined
  readonly finishedAt: Instant | undefined
  readonly result: Json | undefined
  readonly error: StoredError | undefined
  /** Why it is final, if the state alone does not say it: `quarantined`, `superseded by …`, `removed`, a note. */
  readonly reason: string | undefined
  /** Names that other programs have for it (`job_id`, `run_id` …). */
  readonly labels: Labels | undefined
}

/** Additional names of a run, by the kind of name. */
export type Labels = Readonly<Record<string, string>>

/** One try of a run; append-only. */
export interface Attempt {
  readonly run: RunId
  readonly attempt: number
  readonly worker: string | undefined
  readonly claimedAt: Instant
  readonly startedAt: Instant | undefined
  readonly endedAt: Instant | undefined
  /** Undefined while it is running. */
  readonly end: AttemptEnd | undefined
  readonly error: StoredError | undefined
}

/** One line that a run wrote. */
export interface LogLine {
  readonly run: RunId
  readonly attempt: number
  readonly at: Instant
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly text: string
}
