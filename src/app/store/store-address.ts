import type { Clock } from '../../time/clock.js'
import { shownAddress } from '../../store/postgres/connection/address.js'
import { DatabaseClock } from '../../store/postgres/connection/clock.js'
import { isOnManyHosts } from '../../formats/store-url.js'

/** The clock of a store: hosts that share a database use its clock instead of their own. */
export function clockFor(url: string, clock: Clock): Clock {
  return isOnManyHosts(url) ? new DatabaseClock(clock) : clock
}

/** A URL without its password. */
export function shownUrl(url: string): string {
  return isOnManyHosts(url) ? shownAddress(url) : url
}
