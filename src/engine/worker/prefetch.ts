import type { Claim, ClaimRequest } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'
import type { Ended } from './attempts.js'

/**
 * A busy worker claims as many runs ahead of its slots as it ends in this time, or during this many turns if turns are
 * slow: many processes at a busy store then send fewer and larger turns.
 */
const aheadMs = 100
const aheadTurns = 3
const longestAheadMs = 300
const mostAhead = 2000

/** How much faster the measured speed rises if it more than doubles: a worker that starts has soon as much work as it can do. */
const riseFactor = 4

/**
 * Of limited runs, which other runs may wait for, it claims as many as end during this many turns, or in this time if a
 * turn is shorter. With fewer it would have no work during a slow turn.
 */
const limitedAheadTurns = 2
const limitedAheadMs = 10

/** How many runs a worker claims beyond its free slots, measured from how fast its runs end. */
export class Prefetch {
  readonly #clock: Clock
  #endedPerMs = 0
  #measuredAtMs: number
  #turnMs = 0
  #betweenMs = Infinity
  #turnedAtMs = -Infinity
  /** Whether the last claims were only limited runs. */
  #wereLimited = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#measuredAtMs = clock.monotonicMs()
  }

  /** Counts the ends since the last call; called when a turn begins. */
  measure(ended: readonly Ended[]): void {
    const atMs = this.#clock.monotonicMs()
    const elapsedMs = Math.max(1, atMs - this.#measuredAtMs)
    let performed = 0
    for (const { finished } of ended) if (finished.startedAt !== undefined) performed++
    const perMs = performed / elapsedMs
    const factor = perMs > 2 * this.#endedPerMs ? riseFactor : 1
    this.#endedPerMs += (perMs - this.#endedPerMs) * Math.min(1, (elapsedMs / aheadMs) * factor)
    this.#betweenMs = atMs - this.#turnedAtMs
    this.#measuredAtMs = atMs
  }

  /** Measures the duration of a turn; called when it has been answered. */
  turned(): void {
    this.#turnedAtMs = this.#clock.monotonicMs()
    this.#turnMs = (this.#turnMs + this.#turnedAtMs - this.#measuredAtMs) / 2
  }

  /** Whether the worker had less to do before the last turn than the turn took. */
  get isBusyWithTurns(): boolean {
    return this.#betweenMs < this.#turnMs
  }

  /** Remembers the kind of claims that a turn returned. */
  claimed(claims: readonly Claim[]): void {
    if (claims.length > 0) this.#wereLimited = claims.every(({ isLimited }) => isLimited === true)
  }

  /** How many more to claim, at most `most`, while this many are claimed and not begun. */
  beside(waiting: number, most: number): Required<Pick<ClaimRequest, 'prefetch' | 'prefetchLimited'>> {
    const inMs = Math.min(longestAheadMs, Math.max(aheadMs, aheadTurns * this.#turnMs))
    const target = Math.min(mostAhead, Math.floor(this.#endedPerMs * inMs))
    // Refilled when half of it is used up, so that one turn returns many.
    const prefetch = waiting <= target / 2 ? Math.min(target - waiting, most) : 0
    const limitedMs = Math.min(aheadMs, Math.max(limitedAheadMs, limitedAheadTurns * this.#turnMs))
    const limited = Math.floor(this.#endedPerMs * limitedMs) - waiting
    const prefetchLimited = Math.max(0, Math.min(limited, prefetch))
    // A store locks the runs that it reads. If there are only limited runs, it would lock many that cannot be claimed.
    return { prefetch: this.#wereLimited ? prefetchLimited : prefetch, prefetchLimited }
  }
}
