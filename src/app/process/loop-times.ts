import { isOnManyHosts } from '../../formats/store-url.js'

/** The slow poll that works without hints. */
export const slowPollMs = 2000

/** The runs of a dead worker are taken over within its lease plus this. */
const mostUpkeepMs = 5000

/** Hosts know the time of their database only approximately: a lease counts as expired this much later. */
const manyHostsSlackMs = 2000

/** How gone workers are detected. */
export interface UpkeepTimes {
  readonly everyMs: number
  /** How long after its end a lease counts as expired. */
  readonly leaseSlackMs: number
}

/** How often and with which tolerance gone workers are detected in a store. */
export function upkeepTimes(storeUrl: string, leaseMs: number): UpkeepTimes {
  const leaseSlackMs = isOnManyHosts(storeUrl) ? manyHostsSlackMs : 0
  return { everyMs: Math.min(mostUpkeepMs - leaseSlackMs, leaseMs / 6), leaseSlackMs }
}
