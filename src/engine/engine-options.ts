import type { Store } from '../store/port.js'
import type { Clock } from '../time/clock.js'
import type { Events } from './events.js'
import type { FeatureLoop } from './feature-loop.js'
import type { Roles } from './role.js'
import type { ClockGuard } from './scheduler/clock-guard.js'
import type { TriggerKinds } from './trigger-kind.js'
import type { ErrorTracer } from './worker/error-tracer.js'
import type { KeepAlive, KeepAliveOptions } from './worker/keep-alive.js'
import type { ExecutableJob } from './worker/perform.js'

/** The limits that can change while the engine runs. */
export interface EngineLimits {
  /** How many runs it performs concurrently. */
  readonly concurrency: number
  /** How long final runs are kept. */
  readonly retentionMs: number
}

/** The parts and settings of an engine. */
export interface EngineOptions extends EngineLimits {
  readonly store: Store
  readonly kinds: TriggerKinds
  readonly clock: Clock
  /** Decides what counts as now. */
  readonly guard: ClockGuard
  readonly events: Events
  /** Traces uncaught errors; absent: they are not traced. */
  readonly tracer?: ErrorTracer | undefined
  readonly roles: Roles
  readonly identity: { readonly host: string; readonly pid: number; readonly version: string }
  /** A name that no other worker has or had. */
  readonly newWorkerId: () => string
  readonly keepAlive: (options: KeepAliveOptions) => KeepAlive
  readonly executableJobs: () => Promise<ReadonlyMap<string, ExecutableJob>>
  /** The loops that features run alongside the scheduler. */
  readonly featureLoops?: readonly FeatureLoop[] | undefined
  readonly leaseMs: number
  /** The slow poll behind all hints. */
  readonly pollMs: number
  /** How often upkeep looks for dead workers: their runs are taken over within their lease plus this time. */
  readonly upkeepMs: number
  /** Whether past hours are rolled up for the charts; default: true. */
  readonly countsHours?: boolean | undefined
  /** How long after its end a lease counts as expired, since the clocks of hosts may differ. */
  readonly leaseSlackMs?: number | undefined
}
