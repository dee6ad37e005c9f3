import { RotaError } from '../../kernel/definition/errors.js'
import { systemClock } from '../../time/clock.js'

/** Errors that pass: the server restarts or has no connection left, another process holds the lock. */
const passing: ReadonlySet<string> = new Set(['STORE_AWAY', 'STORE_BUSY'])

const shortestPauseMs = 250
const longestPauseMs = 5000

/** How long a store is waited for, and what ends the wait. */
export interface Patience {
  readonly waitMs: number
  readonly signal: AbortSignal
  /** Told why it waits: at first, and when the reason changes. */
  readonly onWait: (error: RotaError) => void
}

/** Does something as soon as the store can be reached; gives nothing where the signal came first. */
export async function untilReachable<T>(patience: Patience, act: () => Promise<T>): Promise<T | undefined> {
  const { waitMs, signal, onWait } = patience
  const startMs = systemClock.monotonicMs()
  let told = ''
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await act()
    } catch (error) {
      if (signal.aborted) return undefined
      const leftMs = startMs + waitMs - systemClock.monotonicMs()
      if (!(error instanceof RotaError) || !passing.has(error.code) || leftMs <= 0) throw error
      if (error.message !== told) onWait(error)
      told = error.message
      await systemClock.sleep(Math.min(pauseMs, leftMs), signal)
    }
    if (signal.aborted) return undefined
  }
}
