import type { Json } from '../kernel/definition/json.js'
import type { RunId } from '../kernel/identity/identity.js'
import type { Instant } from '../time/instant.js'

/** How much a worker claims: `slots` runs of any kind, and `prefetch` more runs that have no lost attempt. */
export interface ClaimRequest {
  readonly jobs: readonly string[]
  readonly slots: number
  readonly prefetch: number
  /** How many prefetched runs may be limited (by a slot or a queue), so that others may wait for them. Default: 0. */
  readonly prefetchLimited?: number | undefined
}

/** A run held by one worker. */
export interface Claim {
  readonly run: RunId
  readonly job: string
  readonly trigger: string | undefined
  readonly attempt: number
  readonly failures: number
  readonly crashes: number
  readonly dueAt: Instant
  readonly partition: string | undefined
  readonly payload: Json | undefined
  readonly claimedAt: Instant
  /** Whether other runs may wait for it: it has a concurrency slot or a limited queue. */
  readonly isLimited?: true | undefined
  /** Whether its end may change more than the run itself, so that a trigger may be due. */
  readonly hasEndEffect?: true | undefined
}
