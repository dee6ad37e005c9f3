import { refuse } from '../definition/errors.js'
import { placeOf, shown, within, type Place } from '../definition/faults.js'
import { frozen } from '../definition/frozen.js'
import { readRates, type RateLimitOptions } from './define-rate.js'
import type { Queue } from './job.js'
import { readConcurrency, readName, readOptions } from '../definition/read-value.js'

/** The options of a queue. */
export interface QueueOptions {
  /** How many of its runs may run concurrently, over all workers; default: unlimited. @minimum 1 */
  readonly concurrency?: number | undefined
  /** How many attempts of its runs may start in a period, over all workers; default: unlimited. */
  readonly limit?: RateLimitOptions | undefined
}

/** The frozen queue of a definition; throws one error with all its faults. */
export function defineQueue(name: string, input: QueueOptions = {}): Queue {
  const place = placeOf()
  const queue = readQueue({ name, input }, place)
  refuse(`queue ${shown(name)}`, place.faults)
  return queue as Queue
}

/** Reads a frozen queue; records faults at the place and returns undefined if there are any. */
export function readQueue(
  written: { readonly name: unknown; readonly input: unknown },
  place: Place,
): Queue | undefined {
  const before = place.faults.length
  const name = readName(written.name, place)
  const input = readOptions(written.input, ['concurrency', 'limit'], place)
  if (name === undefined || input === undefined) return undefined
  const concurrency = readConcurrency(input['concurrency'], within(place, 'concurrency'))
  const rates = readRates(input, ['limit'], place)
  return place.faults.length > before ? undefined : frozen({ name, concurrency, ...rates })
}
