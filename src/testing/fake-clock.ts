import type { Clock } from '../time/clock.js'
import type { Instant } from '../time/instant.js'
import { Timeline } from './timeline.js'

/** A clock for tests: time passes when the test says so, and its wall time can step. */
export class FakeClock implements Clock {
  readonly #timeline: Timeline
  readonly #upMs: number
  #isStopped = false

  /** `upMs` is how long the system has been up already when the clock is made. */
  constructor(at: Instant | Date | Timeline, options: { readonly upMs?: number } = {}) {
    this.#timeline = at instanceof Timeline ? at : new Timeline(typeof at === 'number' ? at : at.getTime())
    this.#upMs = options.upMs ?? 0
  }

  /** A clock of another process on the same time, which can be stopped on its own. */
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

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#sleep({ dueMs: this.monotonicMs() + ms, wallAt: undefined }, signal)
  }

  sleepUntil(at: Instant, signal?: AbortSignal): Promise<void> {
    return this.#sleep({ dueMs: this.monotonicMs() + Math.max(0, at - this.now()), wallAt: at }, signal)
  }

  timer(ms: number, fire: () => void): () => void {
    if (this.#isStopped) return () => undefined
    const dueMs = this.monotonicMs() + Math.max(0, ms)
    return this.#timeline.wait({ owner: this, wallAt: undefined, dueMs, fire })
  }

  /** Lets nothing of this clock fire any more: its process is dead. */
  stop(): void {
    this.#isStopped = true
    this.#timeline.drop(this)
  }

  /** Moves the wall clock without time passing. */
  step(byMs: number): void {
    this.#timeline.step(byMs)
  }

  /** When, in time that passes, the next timer fires; infinite where none waits. */
  get nextMs(): number {
    return this.#timeline.first()?.dueMs ?? Infinity
  }

  /** Lets time pass to the next timer, but not beyond a limit, and fires it. */
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
   * Lets so much time pass, instant by instant: what is due at one instant fires together, as it does on a real machine,
   * and then `settle` lets everything that it set off come to rest.
   */
  async advance(ms: number, settle: () => Promise<void> = settled): Promise<void> {
    const limitMs = this.monotonicMs() + ms
    await settle()
    while (this.#fireInstant(limitMs)) await settle()
  }

  #fireInstant(limitMs: number): boolean {
    // Those that are added meanwhile, however soon they are due, wait for the next round.
    let count = this.#timeline.size
    if (!this.fireNext(limitMs)) return false
    while (--count > 0 && this.nextMs <= this.monotonicMs()) this.fireNext(limitMs)
    return true
  }

  async #sleep(until: { dueMs: number; wallAt: Instant | undefined }, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true || until.dueMs <= this.monotonicMs()) return
    // A stopped clock belongs to a dead process: its sleeps never end.
    if (this.#isStopped) return new Promise(() => undefined)
    await new Promise<void>((resolve) => {
      const cancel = this.#timeline.wait({
        owner: this,
        ...until,
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

/** Lets everything that is on its way in the event loop come to rest. */
export async function settled(rounds = 4): Promise<void> {
  for (let i = 0; i < rounds; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}
