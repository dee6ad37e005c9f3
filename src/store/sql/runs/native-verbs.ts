import type { HolderNotice } from '../../../kernel/run/fact.js'
import type { RunId } from '../../../kernel/identity/identity.js'
import type { StateKey } from '../../../kernel/state/state-entry.js'
import type { Instant } from '../../../time/instant.js'
import type { Finished } from '../../port.js'
import type { EffectiveEnd } from '../rows/unfinished.js'
import type { Verb } from '../verb.js'

/** The verbs with native statements: they are measurably faster, or lock rows in a way of their own. */
export interface NativeVerbs {
  /** From this number of requested jobs on, those with ready runs are looked up first. */
  readonly manyJobs: number
  /**
   * Ends first attempts that are done and have no end effect, many with one statement, and subtracts them from the
   * counts of their queues. It may also end those whose effects change only state entries, and returns these effects,
   * which are not applied yet. Returns those that it ended; the others need the general verb. Drops the cached claims.
   */
  endPlain(items: readonly Finished[]): Verb<Map<RunId, PlainEnd>>
  /** The ready runs of each job, the most urgent first, from an offset on; no two claims get the same run. */
  candidates(jobs: readonly string[], range: { limit: number; offset: number }): Verb<Candidate[]>
  /** The runs that wait at each concurrency slot, the most urgent first, at most so many at each. */
  waiting(slots: readonly string[], limit: number): Verb<WaitingRun[]>
  /** Gives runs to a worker as their next attempt; returns their payloads in the same order. */
  take(runs: readonly Candidate[], by: { worker: number; now: Instant }): Verb<(string | null)[]>
  /** How much of its size limit the log of each run uses, for those that exist. Nobody else changes it until the end of the transaction. */
  logUses(runs: readonly RunId[]): Verb<StoredLogUse[]>
  /** Returns and removes the notices for a worker. */
  takeNotices(worker: string): Verb<HolderNotice[]>
  /** The last notice that was delivered to a worker but is still stored; 0 if there is none. */
  lastNoticeOf(worker: string): number
  /** Locks concurrency slots until the end of the transaction. Never waits: if one of them is locked, the transaction is repeated as the only writer. */
  lockSlots(keys: readonly string[]): Verb<void>
  /** The same for the count of a limited queue. */
  lockQueue(queue: string): Verb<void>
  /**
   * Locks state entries until the end of the transaction, whether they exist or not. Whoever reads an entry to decide
   * about it, or about another, calls this before. The first call of a transaction waits for others. A later call does
   * not: if one of the entries is locked, the transaction is repeated as the only writer.
   */
  lockEntries(keys: readonly StateKey[]): Verb<void>
  /** Remembers the rate limits after a claim, for the next turns. */
  noteRates(left: RatesLeft): void
  /** Locks a unique key until the end of the transaction; throws if another transaction has it. */
  lockUniqueKey(job: string, key: string): Verb<void>
}

/** The state of the rate limits of the requested jobs after a claim. */
export interface RatesLeft {
  /** The time of the claim. */
  readonly at: Instant
  /** When the first run that is known to wait may start; infinite if there is none. */
  readonly nextAt: Instant
  /** Until when the limits of each job allow no start. */
  readonly untilByJob: ReadonlyMap<string, Instant>
}

/** The use of a log as it is stored, also of an empty one. */
export interface StoredLogUse {
  /** The key of the run. */
  readonly run: number
  readonly id: RunId
  readonly lines: number
  readonly bytes: number
  readonly is_cut: number
}

/** A run that was ended by `endPlain`. */
export interface PlainEnd {
  /** Its concurrency slots in the form of its row. */
  readonly gates: string | null
  readonly effect?: EffectiveEnd
}

/** The more urgent candidate first. */
export function byUrgency(a: Candidate, b: Candidate): number {
  return b.priority - a.priority || a.run_at - b.run_at || a.seq - b.seq
}

/** A run that waits at a slot. It may be claimed there as soon as it is admitted to the slot. */
export interface WaitingRun extends Candidate {
  readonly gates: string
  readonly waits_for: string
}

/** A run that a claim may take. */
export interface Candidate {
  readonly seq: number
  readonly id: RunId
  readonly job: string
  readonly priority: number
  readonly run_at: Instant
  readonly attempt: number
  readonly failures: number
  readonly crashes: number
  readonly due_at: Instant
  readonly trigger: string | null
  readonly partition: string | null
  readonly gates: string | null
  readonly follow: number | null
}
