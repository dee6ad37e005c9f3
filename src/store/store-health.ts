import type { Instant } from '../time/instant.js'

/** The health of a store. */
export interface StoreHealth {
  /** Random when the store is created: a copy or a restored backup has the same, a new store another. */
  readonly id: string
  readonly schemaVersion: number
  /** Name and version of the engine behind it. */
  readonly engine: string
  readonly sizeBytes: number | undefined
  /** Increased by every heartbeat: a lower value than before means that the store went back in time. */
  readonly epoch: number
  /** The number of the last counted commit, if the store counts commits; it wraps at 32 bits. */
  readonly commit?: number | undefined
  /** The highest time that any process wrote. */
  readonly highestAt: Instant
  /** Damage that was found, one sentence each. */
  readonly faults: readonly string[]
  /** Problems that are not damage. */
  readonly warnings?: readonly StoreWarning[] | undefined
}

/** A problem of a store that is not damage, and what to do. */
export interface StoreWarning {
  readonly message: string
  readonly todo: string
}
