import type { Roles } from '../engine/engine.js'
import type { QueueOptions } from '../model/define.js'
import type { Clock } from '../time/clock.js'
import type { Durability } from './open-store.js'

/** How an app is set up; everything has a default. */
export interface RotaOptions {
  /** Where everything is kept; `sqlite:data/rota.db` unless said otherwise. `memory:` forgets it at the end. */
  readonly store?: string | undefined
  /** The name under which this app owns its definitions; `app` unless said otherwise. */
  readonly app?: string | undefined
  /** How many runs this process performs at once; 10 unless said otherwise. */
  readonly concurrency?: number | undefined
  /** How long a worker may be silent before its runs are taken over; `30s` unless said otherwise. */
  readonly lease?: string | number | undefined
  /** How long final runs are kept; `30d` unless said otherwise. */
  readonly keep?: string | number | undefined
  /** `full` survives power loss, `normal` every crash of a process; `full` unless said otherwise. */
  readonly durability?: Durability | undefined
  /** Whether the store is made where it is missing; otherwise that is an error. It is, unless said otherwise. */
  readonly create?: boolean | undefined
  /** Queues with limits over all workers. */
  readonly queues?: Readonly<Record<string, QueueOptions>> | undefined
  /** What relative paths are relative to; the working directory unless said otherwise. */
  readonly directory?: string | undefined
  /** Where time comes from; the machine's clock unless a test hands in its own. */
  readonly clock?: Clock | undefined
}

/** A job of this app, with the type of what its runs are given. */
export interface JobRef<Payload = unknown> {
  readonly name: string
  /** Never there: only the type counts. */
  readonly payload?: Payload
}

/** How an app is started. */
export interface StartOptions {
  /** Which loops run here; both unless said otherwise. */
  readonly roles?: Partial<Roles> | undefined
  /** Believe the wall clock even if it is more than a year ahead of the store. */
  readonly acceptClock?: boolean | undefined
  /** Go on with a store that shows an older state than this host has seen. */
  readonly acceptStore?: boolean | undefined
}
