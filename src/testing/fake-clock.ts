import type { Clock } from '../time/clock.js'
import type { Instant } from '../time/instant.js'

/** A timer that waits: for time that passes, or for the wall clock to show an instant. */
interface Waiting {
  readonly owner: FakeClock
  readonly wallAt: Instant | undefined
  dueMs: number
  readonly order: number
  readonly fire: () => void
}

/** Time that passes only when it is told to; shared by all clocks made from it. */
class Timeline {
  wall: Instant
  monotonicMs = 0
  readonly waiting = new Set<Waiting>()
  #order = 0

  constructor(at: Instant) {
    this.wall = at
  }

  wait(waiting: Omit<Waiting, 'order'>): () => void {
    const entry = { ...waiting, order: this.#order++ }
    this.waiting.add(entry)
    return () => this.waiting.delete(entry)
  }

  first(): Waiting | undefined {
    let first: Waiting | undefined
    for (const one of this.waiting) {
      const isEarlier = first === undefined || one.dueMs < first.dueMs || (one.dueMs === first.dueMs && one.order < first.order)
      if (isEarlier) first = one
    }
    return first
  }

  passTo(monotonicMs: number): void {
    const passed = Math.max(0, monotonicMs - this.monotonicMs)
    this.monotonicMs += passed
    this.wall += passed
  }

  step(byMs: number): void {
    this.wall += byMs
    for (const one of this.waiting) {
      if (one.wallAt !== undefined) one.dueMs = this.monotonicMs + Math.max(0, one.wallAt - this.wall)
    }
  }
}

/** A clock for tests: time passes when the test says so, and its wall time can step. */
export class FakeClock implements Clock {
  readonly #timeline: Timeline
  #isStopped = false

  constructor(at: Instant | Date | Timeline) {
    this.#timeline = at instanceof Timeline ? at : new Timeline(typeof at === 'number' ? at : at.getTime())
  }

  /** A clock of another process on the same time, which can be stopped on its own. */
  fork(): FakeClock {
    return new FakeClock(this.#timeline)
  }

  now(): Instant {
    return Math.floor(this.#timeline.wall)
  }

  monotonicMs(): number {
    return this.#timeline.monotonicMs
  }

  uptimeMs(): number {
    return this.#timeline.monotonicMs
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#sleep({ dueMs: this.monotonicMs() + ms, wallAt: undefined }, signal)
  }

  sleepUntil(at: Instant, signal?: AbortSignal): Promise<void> {
    return this.#sleep({ dueMs: this.monotonicMs() + Math.max(0, at - this.now()), wallAt: at }, signal)
  }

  timer(ms: number, fire: () => void): () => void {
    if (this.#isStopped) return () => undefined
    return this.#timeline.wait({ owner: this, wallAt: undefined, dueMs: this.monotonicMs() + Math.max(0, ms), fire })
  }

  /** Lets nothing of this clock fire any more: its process is dead. */
  stop(): void {
    this.#isStopped = true
    for (const one of this.#timeline.waiting) if (one.owner === this) this.#timeline.waiting.delete(one)
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
    const first = this.#timeline.first()
    if (first === undefined || first.dueMs > limitMs) {
      if (limitMs !== Infinity) this.#timeline.passTo(limitMs)
      return false
    }
    this.#timeline.waiting.delete(first)
    this.#timeline.passTo(first.dueMs)
    first.fire()
    return true
  }

  /** Lets so much time pass, timer by timer; after each, `settle` lets everything that it set off come to rest. */
  async advance(ms: number, settle: () => Promise<void> = settled): Promise<void> {
    const limitMs = this.monotonicMs() + ms
    await settle()
    while (this.fireNext(limitMs)) await settle()
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
