import { isOnManyHosts } from '../../formats/store-url.js'

/** The slow poll behind all hints. */
export const slowPollMs = 2000

/** The runs of a dead worker are taken over within its lease plus this. */
const mostUpkeepMs = 5000

/** Hosts know the time of their database only so well: a lease is taken for over this much later. */
const manyHostsSlackMs = 2000

/** How workers that are gone are looked for. */
export interface UpkeepTimes {
  readonly everyMs: number
  /** How long after its end a lease is taken for over. */
  readonly leaseSlackMs: number
}

/** How often it is looked for workers that are gone in a store, and how sure one has to be of it. */
export function upkeepTimes(storeUrl: string, leaseMs: number): UpkeepTimes {
  const leaseSlackMs = isOnManyHosts(storeUrl) ? manyHostsSlackMs : 0
  return { everyMs: Math.min(mostUpkeepMs - leaseSlackMs, leaseMs / 6), leaseSlackMs }
}
