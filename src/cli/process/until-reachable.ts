import { RotaError } from '../../kernel/definition/errors.js'
import { systemClock } from '../../time/clock.js'

/** Temporary errors: the server restarts or has no free connection, or another process holds the lock. */
const passing: ReadonlySet<string> = new Set(['STORE_AWAY', 'STORE_BUSY'])

const shortestPauseMs = 250
const longestPauseMs = 5000

/** How long to wait for a store, and what ends the wait. */
export interface Patience {
  readonly waitMs: number
  readonly signal: AbortSignal
  /** Called with the reason of the wait: first, and when it changes. */
  readonly onWait: (error: RotaError) => void
}

/** Calls a function as soon as the store can be reached; undefined if the signal came first. */
export async function untilReachable<T>(patience: Patience, act: () => Promise<T>): Promise<T | undefined> {
  const { waitMs, signal, onWait } = patience
  const startMs = systemClock.monotonicMs()
  let lastMessage = ''
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await act()
    } catch (error) {
      if (signal.aborted) return undefined
      const leftMs = startMs + waitMs - systemClock.monotonicMs()
      if (!(error instanceof RotaError) || !passing.has(error.code) || leftMs <= 0) throw error
      if (error.message !== lastMessage) onWait(error)
      lastMessage = error.message
      await systemClock.sleep(Math.min(pauseMs, leftMs), signal)
    }
    if (signal.aborted) return undefined
  }
}
