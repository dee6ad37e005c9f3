/**
 * Queries about many triggers and runs at once, for lists, timelines, charts and alerts. Each has a bound. A query that
 * has to read many rows, such as a search in names, does so in small steps, so that other work can continue.
 */
import type { RunId } from '../kernel/identity/identity.js'
import type { LedgerReason, RecordedRange } from '../kernel/ledger/ledger.js'
import type { Run, RunState } from '../kernel/run/run.js'
import type { StateKind } from '../kernel/state/state-entry.js'
import type { StoredTrigger } from '../kernel/trigger/trigger.js'
import type { Instant } from '../time/instant.js'
import type { RunCount, RunFilter } from './run-filter.js'
import type { SeriesRequest, SeriesRow } from './series.js'

/** The part of the store port that answers them. */
export interface Overview {
  /** Changes after every commit of another process. Only on stores opened for reading, if it costs almost nothing. */
  readonly version?: (() => unknown) | undefined

  /** Changes after every commit of any process, and only then; the renewal of a lease need not change it. Absent if it would cost much. */
  readonly stamp?: (() => Promise<unknown>) | undefined

  /** The epoch of `health` alone. Absent if the store counts its commits. */
  readonly epoch?: (() => Promise<number>) | undefined

  /** Numbers that change with runs, the ledger, jobs, holds, workers, state entries and audit entries. */
  pulse(): Promise<Pulse>

  /** The sources of active triggers, in order. */
  sources(): Promise<readonly string[]>

  /** One page of the triggers that a filter matches. */
  triggersPage(request: TriggersPage): Promise<readonly StoredTrigger[]>

  /** The newest runs of each trigger, newest first: at most `each` of them. */
  recentRuns(request: { triggers: readonly string[]; each: number }): Promise<readonly RunMark[]>

  /** The runs of triggers that are due in `[fromAt, untilAt]`, by trigger and due instant: at most `limit` of each. */
  lanes(request: {
    triggers: readonly string[]
    fromAt: Instant
    untilAt: Instant
    limit: number
  }): Promise<readonly RunMark[]>

  /** How many runs of triggers are due in each bucket of `[fromAt, untilAt)`, by state; buckets without runs are left out. */
  tally(request: {
    triggers: readonly string[]
    fromAt: Instant
    untilAt: Instant
    bucketMs: number
  }): Promise<readonly TallyRow[]>

  /** Ranges of the ledger, the newest recorded first; `before` is the number of the last one seen. */
  ledgerPage(request: LedgerPage): Promise<readonly LedgerEntry[]>

  /**
   * The newest failed runs that nothing has repaired: no later run of the same trigger and partition is done. At most
   * `each` of the same trigger and job, so that one that fails all night does not hide the others. A store may look at
   * the newest failed runs only, and then says so.
   */
  troubled(request: { limit: number; each: number }): Promise<Troubled>

  /** Counts the ends of stored runs in `[fromAt, untilAt)` by bucket, job and state; empty buckets are left out. */
  series(request: SeriesRequest): Promise<readonly SeriesRow[]>

  /** The pending runs that should have started `byMs` ago or earlier, the longest overdue first. */
  late(request: LateRequest): Promise<readonly Run[]>

  /** How many state entries of a kind and name have each text in a field of their value (empty if they have none). */
  stateTally(request: StateTallyRequest): Promise<ReadonlyMap<string, number>>

  /** How many runs a filter matches; counts up to `atMost`, and searches up to the filter's `look`. */
  countRuns(filter: Omit<RunFilter, 'limit'>, atMost: number): Promise<RunCount>
}

/** Failed runs that nothing has repaired. */
export interface Troubled {
  readonly runs: readonly Run[]
  /** How many failed runs were looked at, if there are older ones that were not. */
  readonly lookedAt: number | undefined
}

/** Numbers that increase with changes, so that a comparison shows what has changed. */
export interface Pulse {
  /** The id of the store; another one means that earlier reads are invalid. */
  readonly store: string
  /** Shows whether the store was replaced by an older copy of itself. */
  readonly epoch: number
  /** The number of the newest run. */
  readonly runs: number
  /** The number of the newest range of the ledger. */
  readonly ledger: number
  /** When the newest end was recorded. */
  readonly endedAt: Instant
  /** How many runs are running, and when the newest was claimed. */
  readonly running: number
  readonly claimedAt: Instant
  /** Increases with changes of jobs. */
  readonly jobs: number
  /** The number of the newest hold, plus how many were released. */
  readonly holds: number
  /** The number of the newest worker, and how many are live. */
  readonly workers: number
  readonly live: number
  /** When the newest state entry was written. */
  readonly stateAt: Instant
  /** The sum of revisions of the entries written last: it changes even if `stateAt` does not. */
  readonly stateRevisions: number
  /** The number of the newest audit entry. */
  readonly audit: number
}

/** Where a page of triggers begins or ends. */
export interface TriggerCursor {
  readonly name: string
  readonly nextAt?: Instant | undefined
}

/** Which triggers to return, in which order. */
export interface TriggersPage {
  readonly limit: number
  /** By name; or by the next tick, and then without sensors and triggers that have none. */
  readonly order: 'name' | 'next'
  /** The last one of the previous page. */
  readonly after?: TriggerCursor | undefined
  /** The first one of the next page: returns those directly before it, in the same order. */
  readonly before?: TriggerCursor | undefined
  /** A part of the name, in any case. */
  readonly search?: string | undefined
  readonly names?: readonly string[] | undefined
  /** Triggers of one of these jobs. */
  readonly jobs?: readonly string[] | undefined
  readonly source?: string | undefined
  readonly active?: boolean | undefined
}

/** A run as a timeline shows it. */
export interface RunMark {
  readonly id: RunId
  readonly trigger: string
  readonly state: RunState
  readonly dueAt: Instant
  readonly startedAt: Instant | undefined
  readonly finishedAt: Instant | undefined
}

/** Which state entries to count, by which field of their value. */
export interface StateTallyRequest {
  readonly kind: StateKind
  readonly name: string
  readonly field: string
}

/** By how much runs must be late, and how many to return. */
export interface LateRequest {
  readonly now: Instant
  readonly byMs: number
  readonly limit: number
}

/** The runs of one trigger and state that are due in one bucket. */
export interface TallyRow {
  readonly trigger: string
  readonly bucketAt: Instant
  readonly state: RunState
  readonly runs: number
}

/** Which ranges of the ledger to return. */
export interface LedgerPage {
  readonly limit: number
  readonly before?: number | undefined
  /** Default: all of them. */
  readonly triggers?: readonly string[] | undefined
  readonly reasons?: readonly LedgerReason[] | undefined
  /** Only ranges that were recorded at this instant or later, and at this instant or earlier. */
  readonly fromAt?: Instant | undefined
  readonly untilAt?: Instant | undefined
}

/** A range with its number; later ranges have higher numbers. */
export interface LedgerEntry extends RecordedRange {
  readonly seq: number
}
