import type { Instant } from '../time/instant.js'

/** What a store says of itself. */
export interface StoreHealth {
  /** Drawn when the store was made: a copy or a restored backup has the same, a new store another. */
  readonly id: string
  readonly schemaVersion: number
  /** Name and version of the engine behind it. */
  readonly engine: string
  readonly sizeBytes: number | undefined
  /** Raised at every heartbeat: a lower one than was seen before means that the store went back in time. */
  readonly epoch: number
  /** The number of the last commit that was counted, where the store counts commits; it wraps at 32 bits. */
  readonly commit?: number | undefined
  /** The highest time anyone wrote. */
  readonly highestAt: Instant
  /** Damage that was found, one sentence each. */
  readonly faults: readonly string[]
  /** What is not damage, but worth a change. */
  readonly warnings?: readonly StoreWarning[] | undefined
}

/** What could be better about a store, and what to do. */
export interface StoreWarning {
  readonly message: string
  readonly todo: string
}
