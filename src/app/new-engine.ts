import type { ClockGuard } from '../engine/clock-guard.js'
import { Engine, type Roles } from '../engine/engine.js'
import type { Events } from '../engine/events.js'
import { Heartbeat, type KeepAlive, type KeepAliveOptions } from '../engine/keep-alive.js'
import type { Store } from '../store/store.js'
import { systemClock, type Clock } from '../time/clock.js'
import { isOnManyHosts } from './open-store.js'
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
  /** What time is here: the settings' clock, or the one of a database that many hosts share. */
  readonly clock: Clock
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

/** Hosts know the time of their database only so well: a lease is taken for over this much later. */
const manyHostsSlackMs = 2000

/** The engine of an app, not started yet. */
export function newEngine(parts: AppParts): Engine {
  const { store, clock, guard, roles, events, registry, directory } = parts
  const { concurrency, leaseMs, keepMs } = parts.settings
  const slackMs = isOnManyHosts(parts.storeUrl) ? manyHostsSlackMs : 0
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
    sensors: registry.sensors,
    concurrency,
    leaseMs,
    keepMs,
    pollMs,
    upkeepMs: Math.min(mostUpkeepMs - slackMs, leaseMs / 6),
    leaseSlackMs: slackMs,
  })
}

/** A thread keeps the lease of a store that other processes share; a store inside this one needs none. */
function keepAliveOf(parts: AppParts, keep: KeepAliveOptions): KeepAlive {
  const { store, storeUrl, clock, guard } = parts
  const { durability } = parts.settings
  if (store.url.startsWith('memory:') || parts.settings.clock !== systemClock) {
    return new Heartbeat({ ...keep, store, clock, now: () => guard.now() })
  }
  return new ThreadedKeepAlive({ ...keep, clock, url: storeUrl, durability, stallMs })
}
