import type { Instant } from '../../time/instant.js'
import type { RunId } from '../identity/identity.js'
import type { Json } from '../definition/json.js'
import type { Burst } from './burst.js'
import type { SlaRule } from '../sla/sla.js'

/** Where a run is in its life; what never became a run is in the ledger instead. */
export type RunState = 'pending' | 'running' | 'done' | 'failed' | 'cancelled'

/** The states in which nothing more happens to a run. */
export type FinalState = 'done' | 'failed' | 'cancelled'

/** Why a run ended that waited when its trigger was removed. One that was being performed then may finish, and is not tried again. */
export const removedReason = 'removed'

/** Why a run ended that took its worker down too often. */
export const quarantinedReason = 'quarantined'

/** Why a run waits that put itself off; what it said follows after a colon. */
export const snoozedReason = 'snoozed'

/** Why a run waits for as long as its error said. */
export const toldWhenReason = 'its error said when to try again'

/** Whether nothing more will happen to a run in this state. */
export function isFinal(state: RunState): state is FinalState {
  return state === 'done' || state === 'failed' || state === 'cancelled'
}

/** How one attempt ended. */
export type AttemptEnd = 'done' | 'failed' | 'timed-out' | 'lost' | 'released' | 'cancelled' | 'snoozed'

/** What made a run: its trigger at a due instant or for something a sensor found, a check of its round, something upstream of it, a call of `enqueue`, somebody by hand, or a backfill. */
export type RunOrigin = 'trigger' | 'enqueue' | 'manual' | 'sensor' | 'round' | 'upstream' | 'backfill'

/** An error as it is stored: bounded, without a live object behind it. */
export interface StoredError {
  readonly code: string
  readonly message: string
  readonly stack?: string | undefined
  /** What a program may want to know beyond the message, such as the step of a pipeline that failed. */
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
  /** The name of what its end changes besides the run itself. */
  readonly endEffect?: string | undefined
  readonly uniqueKey?: string | undefined
  /** Until when the unique key holds even after the run is final. */
  readonly uniqueUntil?: Instant | undefined
  /** What becomes of it where another run stands for its unique key. */
  readonly burst?: Burst | undefined
  /** Names that source designs or other programs have for it (`job_id`, `run_id` …). */
  readonly labels?: Labels | undefined
  /** By when what has to have become of it; written with it where it is recorded. */
  readonly deadlines?: readonly RunDeadline[] | undefined
}

/** One promise about a run. */
export interface RunDeadline {
  readonly rule: SlaRule
  /** Whose promise it is. */
  readonly of: 'trigger' | 'round' | 'job' | 'asset'
  readonly name: string
  readonly deadlineAt: Instant
  /** How long it has from its due instant on, where that was promised. */
  readonly withinMs: number | null
}

/** A run as it stands in the store. */
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
  /** The key of the slot that it waits for, while it is pending behind others. */
  readonly waitsFor: string | undefined
  /** Whether no attempt is to follow the one under way: its holder was asked to stop, or its trigger was removed. */
  readonly cancelRequested: boolean
  readonly createdAt: Instant
  readonly claimedAt: Instant | undefined
  readonly startedAt: Instant | undefined
  readonly finishedAt: Instant | undefined
  readonly result: Json | undefined
  readonly error: StoredError | undefined
  /** Why it is final, where the state alone does not say: `quarantined`, `superseded by …`, `removed`, a note. */
  readonly reason: string | undefined
  /** Names that source designs or other programs have for it (`job_id`, `run_id` …). */
  readonly labels: Labels | undefined
}

/** Names beside a run's id, by the kind of name. */
export type Labels = Readonly<Record<string, string>>

/** One try of a run; append-only. */
export interface Attempt {
  readonly run: RunId
  readonly attempt: number
  readonly worker: string | undefined
  readonly claimedAt: Instant
  readonly startedAt: Instant | undefined
  readonly endedAt: Instant | undefined
  /** Absent while it is still going on. */
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
