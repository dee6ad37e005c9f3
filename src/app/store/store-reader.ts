import { absoluteUrl } from '../../formats/store-url.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { chainsOnly } from '../../kernel/run/end-effect.js'
import type { Store } from '../../store/port.js'
import { systemClock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import { openAdapter } from './open-adapter.js'
import { clockFor } from './store-address.js'
import { assertNotEmptied } from './witness.js'
import { refuseWrites } from './without-writes.js'

/** A store and the time by its clock; every app is one. */
export interface StoreReader {
  readonly store: () => Promise<Store>
  readonly now: () => Instant
}

/** Opens an existing store that is only read. This loads far less than an app, whose features could write to it. */
export async function openReader(
  given: string,
  directory: string,
): Promise<StoreReader & Pick<Store, 'close'>> {
  const url = absoluteUrl(given, directory)
  assertNotEmptied(url)
  const clock = clockFor(url, systemClock)
  const opened = await openAdapter(url, { clock, durability: 'full', directory, create: false }, chainsOnly)
  const store = refuseWrites(opened, new RotaError('STORE_URL', `${opened.url} was opened to read only`))
  return { store: () => Promise.resolve(store), now: () => clock.now(), close: () => opened.close() }
}
