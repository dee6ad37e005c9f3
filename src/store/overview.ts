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
  /** Another value after every commit of somebody else, at almost no cost. Only a store that was opened to read has it, and only where the database knows at once. */
  readonly version?: (() => unknown) | undefined

  /** Another value after every commit of anybody; the same value says that nothing has changed. Absent where the database does not know at almost no cost. */
  readonly stamp?: (() => Promise<unknown>) | undefined

  /** Numbers of which one changes whenever runs, the ledger, jobs, holds, workers or state entries change, or a change is audited. */
  pulse(): Promise<Pulse>

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
   * the newest 1,000 failed runs only.
   */
  troubled(request: { limit: number; each: number }): Promise<readonly Run[]>

  /** The ends of runs in `[fromAt, untilAt)`, counted from the runs that are still there, by bucket, job and state; empty buckets are left out. */
  series(request: SeriesRequest): Promise<readonly SeriesRow[]>

  /** The pending runs that should have started `byMs` ago or earlier, the longest overdue first. */
  late(request: LateRequest): Promise<readonly Run[]>

  /** How many state entries of a kind and name have each text in a field of their value; an empty text where they have none. */
  stateTally(request: StateTallyRequest): Promise<ReadonlyMap<string, number>>

  /** How many runs a filter matches, counted no further than `atMost`, and looked for no further than its `look`. */
  countRuns(filter: Omit<RunFilter, 'limit'>, atMost: number): Promise<RunCount>
}

/** Numbers that rise with changes, so that two of them tell what has changed in between. */
export interface Pulse {
  /** The store; another one means that nothing read before counts. */
  readonly store: string
  /** Rises when the store was replaced by an older copy of itself. */
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
  /** Rises with changes of jobs. */
  readonly jobs: number
  /** The number of the newest hold, plus how many were released. */
  readonly holds: number
  /** The number of the newest worker, and how many are live. */
  readonly workers: number
  readonly live: number
  /** When the newest state entry was written. */
  readonly stateAt: Instant
  /** The revisions of the entries that were written last, put together: it changes where `stateAt` does not. */
  readonly stateRevisions: number
  /** The number of the newest audit entry. */
  readonly audit: number
}

/** Where a page of triggers begins or ends. */
export interface TriggerCursor {
  readonly name: string
  readonly nextAt?: Instant | undefined
}

/** Which triggers are asked for, in which order. */
export interface TriggersPage {
  readonly limit: number
  /** By name; or by the next tick, and then only those that have one and are no sensors. */
  readonly order: 'name' | 'next'
  /** The last one of the page before. */
  readonly after?: TriggerCursor | undefined
  /** The first one of the page after: those next to it are asked for, in the same order. */
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

/** Which state entries are counted: by a text of their value. */
export interface StateTallyRequest {
  readonly kind: StateKind
  readonly name: string
  readonly field: string
}

/** Which runs are late: by how much, and how many are asked for. */
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

/** Which ranges of the ledger are asked for. */
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

/** A range with its number, which grows in the order in which ranges are recorded. */
export interface LedgerEntry extends RecordedRange {
  readonly seq: number
}
