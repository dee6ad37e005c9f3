import type { Instant } from '../../time/instant.js'

/** How it stands with the data of one partition. */
export type PartitionState = 'missing' | 'running' | 'done' | 'failed' | 'stale'

/** The states in the order in which they are shown to people. */
export const partitionStates: readonly PartitionState[] = ['missing', 'running', 'done', 'failed', 'stale']

/** What is known about one partition of an asset. */
export interface PartitionFacts {
  /** Whether a run of it has not ended; one that waits is on its way too. */
  readonly isRunning?: boolean | undefined
  /** The newest time that it was made. */
  readonly done?: Made | undefined
  /** When a run of it failed last. */
  readonly failedAt?: Instant | undefined
  /** When each upstream partition that it needs was made last; those that never were are left out. */
  readonly upstreamAt?: readonly Instant[] | undefined
}

/** One time that a partition was made. */
export interface Made {
  readonly at: Instant
  /**
   * The newest upstream instant that there was when its run began; undefined where no upstream partition had been
   * made. Not the run's own end: what upstream made while it ran, it did not read.
   */
  readonly upstreamAt?: Instant | undefined
}

/**
 * The state of a partition. An unfinished run counts before everything; a failure counts until the partition is made
 * again; a cancelled run is no fact and changes nothing; data is stale when anything upstream was made after its run
 * began.
 */
export function partitionState(facts: PartitionFacts): PartitionState {
  const { isRunning = false, done, failedAt = -Infinity, upstreamAt = [] } = facts
  if (isRunning) return 'running'
  if (failedAt > (done?.at ?? -Infinity)) return 'failed'
  if (done === undefined) return 'missing'
  const seenAt = done.upstreamAt ?? -Infinity
  return upstreamAt.some((at) => at > seenAt) ? 'stale' : 'done'
}
