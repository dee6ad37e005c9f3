import type { Instant } from '../../../time/instant.js'
import type { Catalog } from '../../sql/catalog.js'
import type { RatesLeft } from '../../sql/runs/native-verbs.js'

/** The jobs with a rate limit that a one-call turn must check. */
export interface RateLook {
  /** Jobs whose limits may allow a start. */
  readonly readyOf: readonly string[]
  /** Those of them whose runs may be parked. */
  readonly parkedOf: readonly string[]
  /** Jobs whose limits allow no start, and until when. */
  readonly fullOf: readonly string[]
  readonly fullUntil: readonly Instant[]
}

/**
 * What this process remembers of rate limits. The one-call transaction does not claim runs with a rate limit. It only checks
 * whether one may start; if so, the turn is repeated as a general transaction. While the limits allow no start, nothing needs
 * to be checked: no other process can make a start possible earlier.
 */
export class RateLooks {
  #catalog: Catalog | undefined
  #left: RatesLeft | undefined

  /** What to check for these jobs; undefined if the turn must be general: to start a run, or because nothing is known. */
  lookFor(catalog: Catalog, jobs: readonly string[], now: Instant): RateLook | undefined {
    // What is known of other limits, or from before the clock was set back, does not count.
    if (this.#left === undefined || this.#catalog !== catalog || now < this.#left.at) return undefined
    const { nextAt, untilByJob } = this.#left
    if (now >= nextAt) return undefined
    const until = (job: string): Instant => untilByJob.get(job) ?? 0
    const readyOf = jobs.filter((job) => until(job) <= now)
    const fullOf = jobs.filter((job) => until(job) > now)
    return {
      readyOf,
      parkedOf: readyOf.filter((job) => catalog.rates.get(job)?.key !== undefined),
      fullOf,
      fullUntil: fullOf.map(until),
    }
  }

  /** Notes the state of the limits after a general turn. */
  note(catalog: Catalog | undefined, left: RatesLeft): void {
    this.#catalog = catalog
    this.#left = left
  }
}
