import type { HolderNotice } from '../../../kernel/run/fact.js'
import type { RunId } from '../../../kernel/identity/identity.js'
import type { Instant } from '../../../time/instant.js'
import type { Finished } from '../../port.js'
import type { Verb } from '../verb.js'

/** What each database does with statements of its own: they are measurably faster so, or lock rows in its own way. */
export interface NativeVerbs {
  /** From this number of wanted jobs on, those that have ready runs are looked up first. */
  readonly manyJobs: number
  /**
   * Ends first attempts that are done and have no end effect, many with one statement, and counts them out of their
   * queues. Answers those that it ended; the others are left to the general way. What the process remembers of the
   * claims is forgotten.
   */
  endPlain(items: readonly Finished[]): Verb<Map<RunId, PlainEnd>>
  /** The ready runs of each job, the most urgent first, from a place on; no two claims get the same run. */
  candidates(jobs: readonly string[], range: { limit: number; offset: number }): Verb<Candidate[]>
  /** Gives runs to a worker as their next attempt; answers their payloads in the same order. */
  take(runs: readonly Candidate[], by: { worker: number; now: Instant }): Verb<(string | null)[]>
  /** The notices for a worker, which are then forgotten. */
  takeNotices(worker: string): Verb<HolderNotice[]>
  /** The last notice that a worker was given although it is still stored; 0 where there is none. */
  lastNoticeOf(worker: string): number
  /** Keeps concurrency slots from other transactions until the end of this one. Never waits: if one of them is taken, this one is made again as the only writer. */
  lockSlots(keys: readonly string[]): Verb<void>
  /** The same for the count of a limited queue. */
  lockQueue(queue: string): Verb<void>
  /** Notes how a claim left the rate limits, for the turns to come. */
  noteRates(left: RatesLeft): void
  /** Keeps a unique key from other transactions until the end of this one; throws where one of them has it. */
  lockUniqueKey(job: string, key: string): Verb<void>
}

/** How a claim left the rate limits of the jobs that it was for. */
export interface RatesLeft {
  /** When that was. */
  readonly at: Instant
  /** When a run may start that is known to wait; infinite where none is. */
  readonly nextAt: Instant
  /** Until when the limits of each job let nothing start. */
  readonly untilByJob: ReadonlyMap<string, Instant>
}

/** A run that was ended by `endPlain`. */
export interface PlainEnd {
  /** Its concurrency slots as they stand in its row. */
  readonly gates: string | null
}

/** The more urgent candidate first. */
export function byUrgency(a: Candidate, b: Candidate): number {
  return b.priority - a.priority || a.run_at - b.run_at || a.seq - b.seq
}

/** A ready run that a claim may take. */
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
