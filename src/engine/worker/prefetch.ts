import type { Clock } from '../../time/clock.js'

/** A busy worker claims as many runs ahead of its slots as it ends in this time. */
const aheadMs = 100
const mostAhead = 2000

/** How many runs a worker claims beyond its free slots, measured from how fast its runs end. */
export class Prefetch {
  readonly #clock: Clock
  #endedPerMs = 0
  #measuredAtMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#measuredAtMs = clock.monotonicMs()
  }

  /** Takes into account that this many runs have ended since the last call. */
  measure(ended: number): void {
    const atMs = this.#clock.monotonicMs()
    const elapsedMs = Math.max(1, atMs - this.#measuredAtMs)
    const weight = Math.min(1, elapsedMs / aheadMs)
    this.#endedPerMs += (ended / elapsedMs - this.#endedPerMs) * weight
    this.#measuredAtMs = atMs
  }

  /** How many more to claim while this many are claimed and not begun. */
  beside(waiting: number): number {
    const target = Math.min(mostAhead, Math.floor(this.#endedPerMs * aheadMs))
    // Refilled when half of it is used up, so that a turn brings many at once.
    return waiting <= target / 2 ? target - waiting : 0
  }
}
