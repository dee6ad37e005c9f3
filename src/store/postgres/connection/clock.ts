import type { Clock, TimerOptions, WakeSignal } from '../../../time/clock.js'
import type { Instant } from '../../../time/instant.js'

/** A reading of the server's clock, and the local time before the request and after the answer. */
export interface ServerReading {
  readonly serverMs: number
  readonly beforeMs: number
  readonly afterMs: number
}

/** Two good clocks drift apart by no more than this part of the elapsed time. */
const drift = 0.0002

/** A reading that took longer is too inexact to be used once there is a better one. */
const longReadingMs = 1000

/**
 * An estimate of the database's clock: monotonic time of this machine plus an offset that every answer of the server
 * narrows. The wall clock of the machine is not used once the server has answered.
 */
export class DatabaseClock implements Clock {
  readonly #own: Clock
  /** The bounds of the offset at `atMs` of the local clock. */
  #bounds: { readonly low: number; readonly high: number; readonly atMs: number } | undefined
  #last: Instant = 0

  constructor(own: Clock) {
    this.#own = own
  }

  /** Narrows the offset: the server read its clock between the request and the answer. */
  observe({ serverMs, beforeMs, afterMs }: ServerReading): void {
    const reading = { low: serverMs - afterMs, high: serverMs - beforeMs, atMs: afterMs }
    if (this.#bounds === undefined) {
      this.#bounds = reading
      return
    }
    if (afterMs - beforeMs > longReadingMs) return
    const slackMs = (afterMs - this.#bounds.atMs) * drift
    const low = Math.max(reading.low, this.#bounds.low - slackMs)
    const high = Math.min(reading.high, this.#bounds.high + slackMs)
    // If the two contradict each other, the server's clock was set, and the newer one is right.
    this.#bounds = low <= high ? { low, high, atMs: afterMs } : reading
  }

  now(): Instant {
    if (this.#bounds === undefined) return this.#own.now()
    const { low, high } = this.#bounds
    const now = Math.floor(this.#own.monotonicMs() + (low + high) / 2)
    // A better estimate may be slightly earlier than the last one: then time stands still instead of going back.
    if (now < this.#last && this.#last - now < longReadingMs) return this.#last
    this.#last = now
    return now
  }

  monotonicMs(): number {
    return this.#own.monotonicMs()
  }

  uptimeMs(): number {
    return this.#own.uptimeMs()
  }

  sleep(ms: number, signal?: WakeSignal): Promise<void> {
    return this.#own.sleep(ms, signal)
  }

  async sleepUntil(at: Instant, signal?: WakeSignal): Promise<void> {
    for (;;) {
      const rest = at - this.now()
      if (rest <= 0 || signal?.aborted === true) return
      await this.#own.sleep(Math.min(rest, longestPieceMs), signal)
    }
  }

  timer(ms: number, fire: () => void, options?: TimerOptions): () => void {
    return this.#own.timer(ms, fire, options)
  }

  defer(act: () => void): void {
    this.#own.defer(act)
  }
}

/** A step of the server's clock is noticed within this time. */
const longestPieceMs = 30_000
