import type { Instant } from '../../time/instant.js'

/** The state of one partition. */
export type PartitionState = 'missing' | 'running' | 'done' | 'failed' | 'stale'

/** The states in the order in which they are shown. */
export const partitionStates: readonly PartitionState[] = ['missing', 'running', 'done', 'failed', 'stale']

/** What is known about one partition of an asset. */
export interface PartitionFacts {
  /** Whether it has a pending or running run. */
  readonly isRunning?: boolean | undefined
  /** The last time it was produced. */
  readonly done?: Made | undefined
  /** When a run of it last failed. */
  readonly failedAt?: Instant | undefined
  /** When each upstream partition that it needs was last produced; without those that never were. */
  readonly upstreamAt?: readonly Instant[] | undefined
}

/** One production of a partition. */
export interface Made {
  readonly at: Instant
  /**
   * The newest upstream instant when its run began; undefined if no upstream partition had been produced. Not the end
   * of the run, because it did not read what upstream produced while it ran.
   */
  readonly upstreamAt?: Instant | undefined
}

/**
 * The state of a partition. An unfinished run takes precedence. A failure counts until the partition is produced again.
 * A cancelled run changes nothing. Data is stale if anything upstream was produced after its run began.
 */
export function partitionState(facts: PartitionFacts): PartitionState {
  const { isRunning = false, done, failedAt = -Infinity, upstreamAt = [] } = facts
  if (isRunning) return 'running'
  if (failedAt > (done?.at ?? -Infinity)) return 'failed'
  if (done === undefined) return 'missing'
  const seenAt = done.upstreamAt ?? -Infinity
  return upstreamAt.some((at) => at > seenAt) ? 'stale' : 'done'
}
