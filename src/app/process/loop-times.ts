import { isOnManyHosts } from '../../formats/store-url.js'
import { systemClock, type Clock } from '../../time/clock.js'

/** The slow poll that works without hints. */
const slowPollMs = 2000

/** The runs of a dead worker are taken over within its lease plus this. */
const mostUpkeepMs = 5000

/** Hosts know the time of their database only approximately: a lease counts as expired this much later. */
const manyHostsSlackMs = 2000

/** If no hint can be lost, the poll is not needed. */
const virtualPollMs = 86_400_000

/** How often the loops of a process look without a hint. */
export interface LoopTimes {
  /** The slow poll behind all hints. */
  readonly pollMs: number
  /** How often upkeep looks for gone workers. */
  readonly upkeepMs: number
  /** How long after its end a lease counts as expired. */
  readonly leaseSlackMs: number
}

/** The store and the clock of an app. */
interface Surroundings {
  readonly store: string
  readonly clock: Clock
}

/** How often the loops of an app look without a hint. */
export function loopTimes(settings: Surroundings & { readonly leaseMs: number }): LoopTimes {
  const { leaseMs } = settings
  if (isVirtual(settings)) return { pollMs: virtualPollMs, upkeepMs: leaseMs / 6, leaseSlackMs: 0 }
  const leaseSlackMs = isOnManyHosts(settings.store) ? manyHostsSlackMs : 0
  const upkeepMs = Math.min(mostUpkeepMs - leaseSlackMs, leaseMs / 6)
  return { pollMs: slowPollMs, upkeepMs, leaseSlackMs }
}

/**
 * Whether an app runs in the virtual time of a test, on a store of its own process: every hint arrives and no other
 * process can take a lease, so an idle day costs almost nothing.
 */
export function isVirtual({ store, clock }: Surroundings): boolean {
  return clock !== systemClock && store.startsWith('memory:')
}
