import type { Clock, WakeSignal } from '../time/clock.js'
import { parseDuration } from '../time/duration.js'
import type { Instant } from '../time/instant.js'
import { Timeline } from './timeline.js'

/** A clock for tests: the test advances the time, and its wall time can step. */
export class FakeClock implements Clock {
  readonly #timeline: Timeline
  readonly #upMs: number
  #isStopped = false

  /** `upMs` is the system uptime when the clock is created. */
  constructor(at: Instant | Date | Timeline, options: { readonly upMs?: number } = {}) {
    this.#timeline = at instanceof Timeline ? at : new Timeline(typeof at === 'number' ? at : at.getTime())
    this.#upMs = options.upMs ?? 0
  }

  /** A clock of another process on the same timeline, which can be stopped separately. */
  fork(): FakeClock {
    return new FakeClock(this.#timeline, { upMs: this.#upMs })
  }

  now(): Instant {
    return Math.floor(this.#timeline.wall)
  }

  monotonicMs(): number {
    return this.#timeline.monotonicMs
  }

  uptimeMs(): number {
    return this.#upMs + this.#timeline.monotonicMs
  }

  sleep(ms: number, signal?: WakeSignal): Promise<void> {
    return this.#sleep(this.monotonicMs() + ms, undefined, signal)
  }

  sleepUntil(at: Instant, signal?: WakeSignal): Promise<void> {
    return this.#sleep(this.monotonicMs() + Math.max(0, at - this.now()), at, signal)
  }

  timer(ms: number, fire: () => void): () => void {
    if (this.#isStopped) return () => undefined
    const dueMs = this.monotonicMs() + Math.max(0, ms)
    return this.#timeline.wait({ owner: this, wallAt: undefined, dueMs, fire })
  }

  defer(act: () => void): void {
    this.#timeline.defer(act)
  }

  /** Drops all timers of this clock: its process is dead. */
  stop(): void {
    this.#isStopped = true
    this.#timeline.drop(this)
  }

  /** Steps the wall clock without advancing the time. */
  step(byMs: number): void {
    this.#timeline.step(byMs)
  }

  /** The monotonic time at which the next timer fires; infinite if there is none. */
  get nextMs(): number {
    return this.#timeline.first()?.dueMs ?? Infinity
  }

  /** Advances the time to the next timer, but not beyond a limit, and fires it. */
  fireNext(limitMs = Infinity): boolean {
    const { nextMs } = this
    if (nextMs === Infinity || nextMs > limitMs) {
      if (limitMs !== Infinity) this.#timeline.passTo(limitMs)
      return false
    }
    const first = this.#timeline.take()
    this.#timeline.passTo(nextMs)
    first?.fire()
    return true
  }

  /**
   * Advances the time, instant by instant: timers that are due at one instant fire together, as on a real machine,
   * and then `settle` waits for everything that they started.
   */
  async advance(duration: string | number, settle: () => Promise<void> = settled): Promise<void> {
    const limitMs = this.monotonicMs() + (typeof duration === 'number' ? duration : parseDuration(duration))
    await settle()
    while (this.#fireInstant(limitMs)) await settle()
  }

  /**
   * Performs what was deferred until nothing is left to do at this instant. Much faster than `settled`, but only where
   * everything happens in memory: it does not wait for the event loop.
   */
  quiet(): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => (this.#timeline.actDeferred() ? afterMicrotasks(look) : resolve())
      afterMicrotasks(look)
    })
  }

  #fireInstant(limitMs: number): boolean {
    // Timers that are added meanwhile wait for the next round, however soon they are due.
    let count = this.#timeline.size
    if (!this.fireNext(limitMs)) return false
    while (--count > 0 && this.nextMs <= this.monotonicMs()) this.fireNext(limitMs)
    return true
  }

  #sleep(dueMs: number, wallAt: Instant | undefined, signal?: WakeSignal): Promise<void> {
    if (signal?.aborted === true || dueMs <= this.monotonicMs()) return Promise.resolve()
    // A stopped clock belongs to a dead process: its sleeps never end.
    if (this.#isStopped) return new Promise(() => undefined)
    return new Promise<void>((resolve) => {
      const cancel = this.#timeline.wait({
        owner: this,
        wallAt,
        dueMs,
        fire: () => {
          signal?.removeEventListener('abort', abort)
          resolve()
        },
      })
      const abort = (): void => {
        cancel()
        resolve()
      }
      signal?.addEventListener('abort', abort, { once: true })
    })
  }
}

/** Waits until everything that is queued in the event loop has run. */
export async function settled(rounds = 4): Promise<void> {
  for (let i = 0; i < rounds; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** Node.js calls a tick that was queued in a microtask when all microtasks are done. */
function afterMicrotasks(act: () => void): void {
  queueMicrotask(() => process.nextTick(act))
}
