import { RotaError } from '../../kernel/definition/errors.js'
import type { Clock } from '../../time/clock.js'
import { isBusy, toRotaError } from './errors.js'

/** How long to wait for a lock before waiting operations are refused. */
const busyLimitMs = 30_000

const longestPauseMs = 25

/** Calls a function that needs a lock as soon as no other process holds it. Waits with a timer, not in SQLite. */
export async function whenFree<T>(context: { clock: Clock; url: string }, act: () => T): Promise<T> {
  const { clock, url } = context
  const startMs = clock.monotonicMs()
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return act()
    } catch (error) {
      if (!isBusy(error)) throw toRotaError(error, url)
      const waitedMs = clock.monotonicMs() - startMs
      if (waitedMs >= busyLimitMs) {
        const message = `${url}: another process held the store for ${Math.round(waitedMs)} ms`
        throw new RotaError('STORE_BUSY', message, { cause: error })
      }
    }
    await clock.sleep(pauseMs)
  }
}
