import type { StoreReader } from '../../app/store/store-reader.js'
import { systemClock } from '../../time/clock.js'

/** Waits between two looks; a hint of the store ends the wait early. */
const lookAgainMs = 500

/** Repeats a function soon after every change of the store, until it returns that it is done. */
export async function lookAgain(
  reader: StoreReader,
  signal: AbortSignal,
  look: () => Promise<'again' | 'over'>,
): Promise<void> {
  let hinted = new AbortController()
  const store = await reader.store()
  const unwatch = store.watch(() => hinted.abort())
  try {
    while (!signal.aborted && (await look()) === 'again') {
      await systemClock.sleep(lookAgainMs, AbortSignal.any([signal, hinted.signal]))
      hinted = new AbortController()
    }
  } finally {
    unwatch()
  }
}
