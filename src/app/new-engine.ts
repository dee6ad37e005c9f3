import type { ClockGuard } from '../engine/clock-guard.js'
import { Engine, type Roles } from '../engine/engine.js'
import type { Events } from '../engine/events.js'
import { Heartbeat, type KeepAlive, type KeepAliveOptions } from '../engine/keep-alive.js'
import type { Store } from '../store/store.js'
import { systemClock } from '../time/clock.js'
import { performablesOf } from './performables.js'
import type { Registry } from './registry.js'
import type { Settings } from './rota-options.js'
import { ThreadedKeepAlive } from './threaded-keep-alive.js'
import { newWorkerId, workerIdentity } from './worker-identity.js'

/** What the engine of an app is made of. */
export interface AppParts {
  readonly store: Store
  /** The address under which another thread opens the same store. */
  readonly storeUrl: string
  readonly guard: ClockGuard
  readonly roles: Roles
  readonly events: Events
  readonly registry: Registry
  readonly settings: Settings
  /** Where commands run, and where their relative directories start. */
  readonly directory: string
}

const pollMs = 2000
const stallMs = 60_000

/** The runs of a dead worker are taken over within its lease plus this. */
const mostUpkeepMs = 5000

/** The engine of an app, not started yet. */
export function newEngine(parts: AppParts): Engine {
  const { store, guard, roles, events, registry, directory } = parts
  const { clock, concurrency, leaseMs, keepMs } = parts.settings
  const outside = { clock, environment: process.env, directory }
  return new Engine({
    store,
    guard,
    roles,
    clock,
    events,
    identity: workerIdentity(),
    newWorkerId,
    keepAlive: (keep) => keepAliveOf(parts, keep),
    performables: () => performablesOf({ registry, store, outside }),
    concurrency,
    leaseMs,
    keepMs,
    pollMs,
    upkeepMs: Math.min(mostUpkeepMs, leaseMs / 6),
  })
}

/** A thread keeps the lease of a store that other processes share; a store inside this one needs none. */
function keepAliveOf({ store, storeUrl, guard, settings }: AppParts, keep: KeepAliveOptions): KeepAlive {
  const { clock, durability } = settings
  if (store.url.startsWith('memory:') || clock !== systemClock) {
    return new Heartbeat({ ...keep, store, clock, now: () => guard.now() })
  }
  return new ThreadedKeepAlive({ ...keep, clock, url: storeUrl, durability, stallMs })
}
