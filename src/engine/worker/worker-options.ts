import type { Claim, Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import type { Events } from '../events.js'
import type { Ended } from './attempts.js'
import type { ErrorTracer } from './error-tracer.js'
import type { ExecutableJob } from './perform.js'

/** What a worker needs. */
export interface WorkerOptions {
  readonly id: string
  readonly store: Store
  readonly clock: Clock
  readonly now: () => Instant
  readonly events: Events
  readonly tracer: ErrorTracer
  readonly concurrency: () => number
  /** The jobs that this process can execute; read again when the store reports that jobs changed. */
  readonly executableJobs: () => Promise<ReadonlyMap<string, ExecutableJob>>
  /** The interval of the slow poll behind all hints. */
  readonly pollMs: number
  /** Called when the end of a run may make a trigger due. */
  readonly onDue: () => void
  /** Called when the store has taken the lease away. */
  readonly onExpired: () => void
  /** Limits the worker to one pass; see `pass()`. */
  readonly pass?: PassOptions | undefined
}

/** The limits of a worker that performs a few runs and ends. */
export interface PassOptions {
  /** How many runs it claims in all. */
  readonly limit: number
  readonly onClaim: (claim: Claim) => void
  /** Called when the store has stored the end of an attempt, or refused it because the claim is no longer current. */
  readonly onEnd: (ended: Ended, isStored: boolean) => void
}
