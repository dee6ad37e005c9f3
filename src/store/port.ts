/**
 * The store port: the only means of coordination. Its laws, which `conformance/` proves for every adapter:
 *
 * - A method takes a batch; each item is all or nothing, independent of the others in the batch. The method
 *   returns after the commit that contains it.
 * - Conflicts are values (`'stale'`, `'absent'` …). A method throws only for a broken store.
 * - `now` is a parameter; a store never reads a clock.
 * - A run is claimed by one worker at a time; every claim takes the next attempt number; reports of older attempts
 *   change nothing.
 *
 * What changes a run: `tick` and `enqueue` make it pending; `turn` claims it and ends it; `cancel` and `tick`
 * (superseding) end it or ask its holder to stop; `retry` makes a final one pending again, `advance` a waiting one due;
 * `prune` removes it.
 */
import type { Instant } from '../time/instant.js'
import type { ChangeRecord } from '../kernel/audit/audit.js'
import type { Fact, FactPage, HolderNotice, Signs, WorkerFact } from '../kernel/run/fact.js'
import type { Hold, HoldTarget } from '../kernel/hold/hold.js'
import type { RunId } from '../kernel/identity/identity.js'
import type { Job, Queue } from '../kernel/job/job.js'
import type { EndedRun } from '../kernel/job/retention.js'
import type { RecordedRange } from '../kernel/ledger/ledger.js'
import type { StateEntry, StateChange, StateFilter } from '../kernel/state/state-entry.js'
import type { Outcome } from '../kernel/run/outcome.js'
import type { Attempt, LogLine, NewRun, Run, RunState } from '../kernel/run/run.js'
import type { Tick } from '../kernel/tick/tick.js'
import type { Auditing } from './auditing.js'
import type { ChangingRuns } from './change-runs.js'
import type { Overview } from './overview.js'
import type { RunFilter, RunsPage } from './run-filter.js'
import type { StoreHealth } from './store-health.js'
import type { DueTrigger, StoredTrigger, Trigger, TriggerVersion } from '../kernel/trigger/trigger.js'
import type { Claim, ClaimRequest } from './claim.js'
import type { Hint } from './hint.js'

export type { Claim, ClaimRequest }

/** Where definitions, cursors, runs and the ledger are stored. */
export interface Store
  extends Definitions,
    Planning,
    Work,
    Holding,
    StateEntries,
    Moving,
    Reading,
    Overview,
    Auditing {
  /** The same store; its transactions also write the audit entries of their changes. Entries of several transactions with one id become one. */
  audited(record: ChangeRecord): Store
  /** The kind and place of the store, for messages: `sqlite:data/rota.db`. */
  readonly url: string
  /** Whether a worker's turn never shares a transaction with other changes than plain enqueues. */
  readonly commitsTurnsApart?: true
  /** Calls back soon after something may have become due or claimable through another process. Only a hint: it may be lost. */
  watch(hint: Hint): () => void

  /** Removes final runs that ended before an instant, oldest first, or only the given `runs`; writes their `pruned` ranges in the same transaction, and removes expired seen keys. Returns the number of removed runs. */
  prune(request: PruneRequest): Promise<number>

  /** Final runs by their ends, the newest first, those after `after` in this order. */
  endedRuns(request: {
    after: Pick<EndedRun, 'id' | 'finishedAt'> | undefined
    limit: number
  }): Promise<readonly EndedRun[]>

  /** The health of the store; `deep` searches everything for damage, however long that takes. */
  health(request: { now: Instant; deep?: boolean }): Promise<StoreHealth>

  /** Finishes running operations, then closes. Every later call throws `STORE_CLOSED`. */
  close(): Promise<void>
}

/** Which final runs are removed. */
export interface PruneRequest {
  /** Only runs that ended before this. */
  readonly before: Instant
  readonly limit: number
  readonly now: Instant
  /** At most `limit` of them. */
  readonly runs?: readonly RunId[] | undefined
}

/** Jobs, queues and triggers. */
export interface Definitions {
  /** Writes jobs and queues of a source; a job that another source still defines is not changed, and its name is returned as a conflict. Waiting runs get the new limits. */
  defineJobs(request: DefineJobs): Promise<readonly DefineConflict[]>

  /** Writes triggers, each one compared with the revision it was computed from. */
  defineTriggers(batch: readonly DefineTrigger[]): Promise<readonly DefineAnswer[]>

  /** Jobs by name. */
  jobs(): Promise<readonly StoredJob[]>

  /** Removes jobs that no active trigger uses and that have no unfinished run; returns those it kept. */
  removeJobs(names: readonly string[]): Promise<readonly string[]>

  queues(): Promise<readonly QueueStatus[]>

  /** Triggers by name; all of them, or those of a filter. */
  triggers(filter?: TriggerFilter): Promise<readonly StoredTrigger[]>

  /** The fingerprint of each active trigger of a source; a start compares these instead of reading every definition. */
  fingerprints(source: string): Promise<ReadonlyMap<string, string>>

  /** The versions of one trigger, oldest first. */
  versions(trigger: string): Promise<readonly TriggerVersion[]>
}

/** Moving cursors. */
export interface Planning {
  /**
   * Triggers whose next tick is due, with everything that it needs; none while planning is held. Triggers with a
   * sensor are returned only if the request names them, and then no others.
   */
  due(request: {
    now: Instant
    limit: number
    sensors?: readonly string[] | undefined
  }): Promise<readonly DueTrigger[]>

  /** The named triggers with everything that a tick needs, due or not: for closing a version. */
  dueByName(request: { names: readonly string[]; now: Instant }): Promise<readonly DueTrigger[]>

  /** Commits ticks: cursor, runs, ranges, state entries and seen keys together, or nothing if the revision of the trigger or of a state entry has changed. Existing runs stay unchanged. If `takesArrivals` is set and arrivals are left, the trigger is due again. */
  tick(batch: readonly Tick[]): Promise<readonly ('ticked' | 'stale')[]>

  /** When the next trigger, or the next of the named sensors, is due, or the hold on planning ends. */
  nextTickAt(request: { now: Instant; sensors?: readonly string[] | undefined }): Promise<Instant | undefined>

  /** The given digests that a trigger still remembers. */
  seen(request: { trigger: string; digests: readonly string[]; now: Instant }): Promise<ReadonlySet<string>>

  /** Removes up to `limit` of the keys that a trigger has seen; returns how many. */
  forgetSeen(request: { trigger: string; limit: number }): Promise<number>
}

/** Runs and workers. */
export interface Work extends ChangingRuns {
  /** Records runs. If another run has the unique key or the id, that run is returned instead. */
  enqueue(request: { runs: readonly NewRun[]; now: Instant }): Promise<readonly Enqueued[]>

  /** Registers a worker, with a lease that starts now. For a known worker only the number of its slots changes. */
  register(worker: WorkerEntry): Promise<void>

  /** Renews a worker's lease from the highest time, and returns whether it drains or has lost its lease. Also increases the store's epoch and its highest time. */
  heartbeat(request: { worker: string; now: Instant; leaseMs: number }): Promise<Beat>

  /** Drains a live worker, or ends its draining. While it drains, its turns claim nothing, and its heartbeat returns that. Its running attempts continue. */
  drain(request: { worker: string; isDraining: boolean }): Promise<'changed' | 'already' | 'absent'>

  /** Removes a worker; the runs that it still holds become lost. */
  retire(request: { worker: string; now: Instant }): Promise<void>

  /**
   * One worker's turn, one transaction: it stores finished attempts whose claim is current, makes due runs ready, and
   * claims the requested runs in the order priority, `runAt`. An expired worker gets nothing; a worker whose lease has
   * ended or that drains gets no claims. A late report on a lost attempt shows that its process is alive: the attempt
   * becomes `released` and is not a crash; a run that was quarantined because of it is pending again.
   */
  turn(request: Turn): Promise<TurnAnswer>

  /** Expires workers whose lease ended before `deadline` and was no longer than `longestMs`, and returns the claims of workers that are gone. */
  expire(request: Expiry): Promise<readonly LostClaim[]>

  /** Cancels a pending run immediately, and asks the worker of a running one to stop; that run is not retried, however its attempt ends. */
  cancel(request: {
    run: RunId
    now: Instant
    reason: string
  }): Promise<'cancelled' | 'requested' | 'final' | 'absent'>

  /** Makes a failed or cancelled run pending again, with all its tries; attempt numbers continue. */
  retry(request: { run: RunId; now: Instant }): Promise<'pending' | 'not-final' | 'absent'>

  /** Makes a delayed run claimable now; its due instant stays. */
  advance(request: { run: RunId; now: Instant }): Promise<'advanced' | 'not-waiting' | 'absent'>

  /** Adds lines to the logs of runs; lines beyond the limit of a run are dropped and replaced by one last line. */
  log(lines: readonly LogLine[]): Promise<void>
}

/** Pauses, freezes and switches. */
export interface Holding {
  /** Opens a hold unless one on that target is open. A paused trigger stops ticking in the same transaction. */
  hold(request: {
    target: HoldTarget
    now: Instant
    untilAt?: Instant | undefined
    actor: string
    note: string
  }): Promise<'held' | 'already'>

  /** Ends an open hold. A trigger is due immediately: its tick records the held range, or with `catchUp` catches up. */
  release(request: { target: HoldTarget; now: Instant; catchUp: boolean }): Promise<'released' | 'absent'>

  /** Holds by target or all, newest first. */
  holds(filter?: { target?: HoldTarget | undefined; openAt?: Instant }): Promise<readonly Hold[]>
}

/** Small values that change in the same transaction as their subject. */
export interface StateEntries {
  /** State entries by name and item. */
  stateEntries(filter: StateFilter): Promise<readonly StateEntry[]>

  /** Changes state entries: all of them, or none if the revision of one has changed. */
  changeState(request: { changes: readonly StateChange[]; now: Instant }): Promise<'changed' | 'stale'>
}

/** Moving a store into another one. No other process may write meanwhile. */
export interface Moving {
  /** All facts, in pages, in an order in which another store can import them: runs in the order of their insertion. */
  facts(request: { after?: string | undefined; limit: number }): Promise<FactPage>

  /** Imports facts unchanged, all of them or none. The store that wrote them has made all decisions. */
  takeFacts(facts: readonly Fact[]): Promise<void>
}

/** Queries. */
export interface Reading {
  run(id: RunId): Promise<Run | undefined>
  /** The runs with these ids, in any order; missing ones are left out. */
  runsById(ids: readonly RunId[]): Promise<readonly Run[]>
  /** Runs whose id starts with the text: at most `limit`. */
  runsByPrefix(prefix: string, limit: number): Promise<readonly Run[]>
  /** Runs, newest first (by due instant, then id), in pages: `before` is the id of the last one seen. Runs outside `sinceAt` and `untilAt` cost nothing: an id begins with its due instant. */
  runs(filter: RunFilter): Promise<readonly Run[]>
  /** The same as a page that returns how far it searched: with `look`, it may have fewer runs than match. */
  runsPage(filter: RunFilter): Promise<RunsPage<Run>>
  /** How many runs are in each state; final ones counted up to a bound, for display. */
  counts(): Promise<Readonly<Record<RunState, number>>>
  attempts(run: RunId): Promise<readonly Attempt[]>
  logs(request: { run: RunId; after?: number; limit: number }): Promise<readonly StoredLogLine[]>
  /** The ranges of a trigger that overlap `[fromAt, untilAt]`, oldest first. */
  ledger(request: { trigger: string; fromAt: Instant; untilAt: Instant }): Promise<readonly RecordedRange[]>
  /** The due instants of a trigger's own runs in `[fromAt, untilAt]`, oldest first, at most `limit`. */
  runInstants(request: {
    trigger: string
    fromAt: Instant
    untilAt: Instant
    limit: number
  }): Promise<readonly { dueAt: Instant; id: RunId; state: RunState }[]>
  workers(): Promise<readonly WorkerStatus[]>
  /** The signs of life of processes with a role that were started up to an instant, including dead ones. */
  signsOf(request: { role: string; until: Instant }): Promise<Signs>
}

/** The jobs and queues of one source. */
export interface DefineJobs {
  readonly source: string
  readonly jobs: readonly Job[]
  readonly queues: readonly Queue[]
  readonly now: Instant
}

/** A name that another source owns. */
export interface DefineConflict {
  readonly name: string
  readonly source: string
}

/** A change of one trigger: its new definition or its end, with the tick that closes its previous version. */
export interface DefineTrigger {
  readonly name: string
  readonly source: string
  /** The revision it was computed from; 0 for a name that is new. */
  readonly revision: number
  readonly now: Instant
  /** The new definition; absent to end the trigger. */
  readonly trigger: Trigger | undefined
  readonly fingerprint: string
  readonly tzdata: string
  /** Plans the ending version up to now. Absent if there is nothing to plan: then the version ends, and the next begins, at the cursor of this change. */
  readonly closing: Tick | undefined
  readonly cursorAt: Instant
  readonly nextAt: Instant | undefined
  /** Whether waiting runs of an ended trigger are cancelled; a running one may finish, but is not retried. */
  readonly cancelPending: boolean
}

/** Which triggers to return; an omitted condition selects all. */
export interface TriggerFilter {
  readonly source?: string | undefined
  readonly names?: readonly string[] | undefined
  /** Ended ones stay forever; a query without this option does not read them. */
  readonly active?: boolean | undefined
}

/** The result of a change: written, computed from an old revision, or refused because another source owns the name. */
export type DefineAnswer = 'defined' | 'stale' | { readonly conflict: string }

/** A job and its source. */
export interface StoredJob {
  readonly job: Job
  readonly source: string
}

/** A queue with its current state. */
export interface QueueStatus extends Queue {
  readonly paused: boolean
  /** Runs that could be claimed now, and since when the oldest of them could. */
  readonly ready: number
  readonly oldestReadyAt: Instant | undefined
  readonly running: number
  /** Runs that wait for their instant, and for a concurrency slot; counted up to a bound. */
  readonly delayed: number
  readonly blocked: number
}

/** A run that was recorded, or the existing one that is returned instead. */
export interface Enqueued {
  readonly id: RunId
  readonly created: boolean
}

/** A worker as it registers; a process without that role also registers, and claims nothing. */
export interface WorkerEntry {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
  /** The roles of its process; default: only worker. */
  readonly roles?: readonly string[] | undefined
  /** How many runs it performs concurrently. */
  readonly slots?: number | undefined
  /** The worker of the same process whose lease was lost: if that one drains, this one does. */
  readonly replaces?: string | undefined
  readonly now: Instant
  readonly leaseMs: number
}

/** The result of a heartbeat: the lease is renewed, it is renewed and the worker drains, or it is lost. */
export type Beat = 'alive' | 'draining' | 'expired'

/** A worker as the store knows it, and how many runs it holds. */
export interface WorkerStatus extends Omit<WorkerFact, 'isGone' | 'notices'> {
  readonly running: number
}

/** What a worker submits and what it requests. */
export interface Turn {
  readonly worker: string
  readonly now: Instant
  readonly finished: readonly Finished[]
  readonly claimRequest: ClaimRequest | undefined
}

/** A decided attempt. */
export interface Finished {
  readonly run: RunId
  readonly attempt: number
  readonly outcome: Outcome
  readonly startedAt: Instant | undefined
  readonly endedAt: Instant
}

/** The answer to a turn. */
export interface TurnAnswer {
  /** Whether the worker's lease has expired: nothing was claimed, and it must take a new id. */
  readonly expired: boolean
  /** For each submitted attempt, in order: whether it was stored. */
  readonly finished: readonly ('stored' | 'stale')[]
  readonly claims: readonly Claim[]
  /** Whether more runs were ready than were claimed. */
  readonly more: boolean
  /** When the next delayed run becomes due, or runs become claimable although nothing is committed: a hold ends, a rate limit has room. */
  readonly nextRunAt: Instant | undefined
  /** The notices for its claims; each is returned once. */
  readonly notices: readonly HolderNotice[]
  /** Increases whenever jobs are defined or removed: a worker that sees another value reads the jobs again. */
  readonly jobsRevision: number
  /** The part that failed while the other was committed: ends must be submitted again, claims may have been made. */
  readonly failed?: { readonly part: 'finished' | 'claims'; readonly error: unknown } | undefined
}

/** Which workers are declared gone, and the most claims to return. */
export interface Expiry {
  readonly now: Instant
  readonly deadline: Instant
  readonly limit: number
  /** Default: any lease is judged. */
  readonly longestMs?: number | undefined
}

/** A claim whose worker is gone, with the data for the decision about it. */
export interface LostClaim {
  readonly run: RunId
  readonly dueAt: Instant
  readonly attempt: number
  readonly failures: number
  readonly crashes: number
  readonly worker: string
  readonly job: Job
}

/** A line of a log with its number. */
export interface StoredLogLine extends LogLine {
  /** Increases with every line of the run. */
  readonly seq: number
}
