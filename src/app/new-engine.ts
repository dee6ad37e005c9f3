import type { ClockGuard } from '../engine/scheduler/clock-guard.js'
import { Engine } from '../engine/engine.js'
import type { Events } from '../engine/events.js'
import type { ErrorTracer } from '../engine/worker/error-tracer.js'
import { Heartbeat, type KeepAlive, type KeepAliveOptions } from '../engine/worker/keep-alive.js'
import type { ExecutableJob } from '../engine/worker/perform.js'
import type { Roles } from '../engine/role.js'
import type { Store } from '../store/port.js'
import { systemClock, type Clock } from '../time/clock.js'
import { loopTimes } from './process/loop-times.js'
import { executableJobsOf } from '../handlers/executable-jobs.js'
import type { Registry } from '../engine/sync/registry.js'
import type { Settings } from './rota-options.js'
import { ThreadedKeepAlive } from './store/threaded-keep-alive.js'
import { newWorkerId, workerIdentity } from '../handlers/worker-identity.js'
import type { Tracing } from './tracing/tracing.js'
import { loadFeatureLoops, loadHandlerExtensions, loadTriggerKinds } from './features.js'

/** The parts of the engine of an app. */
export interface AppParts {
  readonly store: Store
  /** The address under which another thread opens the same store. */
  readonly storeUrl: string
  /** The clock of the settings, or that of a database that many hosts share. */
  readonly clock: Clock
  readonly guard: ClockGuard
  readonly roles: Roles
  readonly events: Events
  readonly tracer: ErrorTracer
  readonly tracing: Tracing
  readonly registry: Registry
  readonly settings: Settings
  /** Where commands run, and where their relative directories start. */
  readonly directory: string
  /** Called with the functions that this process has, whenever they are looked up. */
  readonly onFunctions: (names: readonly string[]) => void
}

const stallMs = 60_000

/** Creates the engine of an app without starting it. */
export async function newEngine(parts: AppParts): Promise<Engine> {
  const { store, clock, guard, roles, events, registry, directory, onFunctions } = parts
  const { concurrency, leaseMs, retentionMs } = parts.settings
  const outside = { clock, environment: process.env, directory }
  const extensions = await loadHandlerExtensions()
  const spans = await parts.tracing.load()
  return new Engine({
    store,
    kinds: await loadTriggerKinds(),
    guard,
    roles,
    clock,
    events,
    tracer: parts.tracer,
    identity: workerIdentity(),
    newWorkerId,
    keepAlive: (keep) => keepAliveOf(parts, keep),
    executableJobs: async () => {
      const found = await executableJobsOf({ registry, store, outside, extensions })
      onFunctions(functionsIn(found))
      if (spans === undefined) return found
      return new Map([...found].map(([name, executable]) => [name, spans.traced(executable, store)]))
    },
    featureLoops: await loadFeatureLoops(registry),
    concurrency,
    leaseMs,
    retentionMs,
    ...loopTimes(parts.settings),
  })
}

/** The jobs that only a process with their code can perform. */
function functionsIn(executableJobs: ReadonlyMap<string, ExecutableJob>): string[] {
  return [...executableJobs.values()]
    .filter(({ job }) => job.handler.kind === 'function' || job.handler.kind === 'module')
    .map(({ job }) => job.name)
}

/** A thread renews the lease of a worker, if the store is shared with other processes. */
function keepAliveOf(parts: AppParts, keep: KeepAliveOptions): KeepAlive {
  const { store, storeUrl, clock, guard, roles } = parts
  const { durability } = parts.settings
  if (!roles.worker || store.url.startsWith('memory:') || parts.settings.clock !== systemClock) {
    return new Heartbeat({ ...keep, store, clock, now: () => guard.now() })
  }
  return new ThreadedKeepAlive({ ...keep, clock, url: storeUrl, durability, stallMs, now: guard.now() })
}
