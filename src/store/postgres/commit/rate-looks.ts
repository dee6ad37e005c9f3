import type { Instant } from '../../../time/instant.js'
import type { Catalog } from '../../sql/catalog.js'
import type { RatesLeft } from '../../sql/runs/native-verbs.js'

/** The jobs with a rate limit whose runs a usual turn has to look for. */
export interface RateLook {
  /** Those whose limits may let something start. */
  readonly readyOf: readonly string[]
  /** Those of them whose runs may be parked. */
  readonly parkedOf: readonly string[]
  /** Those whose limits let nothing start, and until when. */
  readonly fullOf: readonly string[]
  readonly fullUntil: readonly Instant[]
}

/**
 * What this process remembers of rate limits. Runs with a rate limit are not claimed by the usual transaction, which only
 * looks whether there is one that may start; then the turn is made in the way that can do everything. While the limits
 * let nothing start, there is nothing to look for: no other process can make that earlier.
 */
export class RateLooks {
  #catalog: Catalog | undefined
  #left: RatesLeft | undefined

  /** What to look for of these jobs; undefined where the turn has to do everything: to start a run, or because nothing is known. */
  lookFor(catalog: Catalog, jobs: readonly string[], now: Instant): RateLook | undefined {
    // What was known of other limits, and before the clock was set back, says nothing.
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

  /** Notes how a turn that could do everything left the limits. */
  note(catalog: Catalog | undefined, left: RatesLeft): void {
    this.#catalog = catalog
    this.#left = left
  }
}
