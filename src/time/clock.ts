import { uptime } from 'node:os'
import type { Instant } from './instant.js'

/** What ends a sleep early: an AbortSignal, or a cheaper object with the same members. */
export interface WakeSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** The only source of time and timers; it is passed as a parameter, so that tests can pass their own. */
export interface Clock {
  /** Wall time; may jump in either direction. */
  now(): Instant
  /** Milliseconds that never decrease, the same in every process of the machine until it restarts. */
  monotonicMs(): number
  /** Milliseconds since the system was started. */
  uptimeMs(): number
  /** Resolves once `ms` have passed on the monotonic clock, or when the signal aborts; never rejects. */
  sleep(ms: number, signal?: WakeSignal): Promise<void>
  /** Resolves once wall time has reached `at`, never earlier, or when the signal aborts; never rejects. */
  sleepUntil(at: Instant, signal?: WakeSignal): Promise<void>
  /** Calls `fire` once after `ms`; returns the function that cancels it. */
  timer(ms: number, fire: () => void, options?: TimerOptions): () => void
  /** Calls `act` soon, after the work that the event loop already has. */
  defer(act: () => void): void
}

/** What kind of timer it is. */
export interface TimerOptions {
  /** It does not keep the process alive. */
  readonly isIdle?: boolean | undefined
  /** It is a poll that may fire earlier: all polls of a process fire together, so that one wake-up serves them. */
  readonly isPoll?: boolean | undefined
}

/** A step of the wall clock is noticed within this time; it is also far below setTimeout's limit. */
const LONGEST_PIECE_MS = 30_000

/** The machine's own clock. */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonicMs,
  uptimeMs: () => uptime() * 1000,

  sleep(ms: number, signal?: WakeSignal): Promise<void> {
    const end = monotonicMs() + ms
    return sleepInPieces(() => end - monotonicMs(), signal)
  },

  sleepUntil(at: Instant, signal?: WakeSignal): Promise<void> {
    return sleepInPieces(() => at - Date.now(), signal)
  },

  timer(ms: number, fire: () => void, options?: TimerOptions): () => void {
    const end = options?.isPoll === true ? beatAfter(monotonicMs(), ms) : monotonicMs() + ms
    let handle: NodeJS.Timeout
    const arm = (): void => {
      handle = setTimeout(() => (end - monotonicMs() > 0 ? arm() : fire()), pieceOf(end - monotonicMs()))
      if (options?.isIdle === true) handle.unref()
    }
    arm()
    return () => clearTimeout(handle)
  },

  defer(act: () => void): void {
    setImmediate(act)
  },
})

/** The next of the instants that are `everyMs` apart; every process has its own offset, so that they spread. */
function beatAfter(nowMs: number, everyMs: number): number {
  const phaseMs = (process.pid * 61) % 1000
  return phaseMs + (Math.floor((nowMs - phaseMs) / everyMs) + 1) * everyMs
}

// Not performance.now(), which counts from the start of each thread.
function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

// A timer may fire up to a millisecond early against either clock, so the remaining time is computed again each time.
async function sleepInPieces(remainingMs: () => number, signal: WakeSignal | undefined): Promise<void> {
  for (;;) {
    const remaining = remainingMs()
    if (signal?.aborted || !(remaining > 0)) return
    await pause(pieceOf(remaining), signal)
  }
}

function pieceOf(remainingMs: number): number {
  return Math.min(Math.ceil(remainingMs), LONGEST_PIECE_MS)
}

function pause(ms: number, signal: WakeSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(handle)
      signal?.removeEventListener('abort', wake)
      resolve()
    }
    const handle = setTimeout(wake, ms)
    signal?.addEventListener('abort', wake, { once: true })
  })
}
