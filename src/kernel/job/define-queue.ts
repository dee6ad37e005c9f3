import { refuse } from '../definition/errors.js'
import { placeOf, shown, within, type Place } from '../definition/faults.js'
import { frozen } from '../definition/frozen.js'
import type { Queue } from './job.js'
import { readConcurrency, readName, readOptions } from '../definition/read-value.js'

/** What a queue may be given. */
export interface QueueOptions {
  /** How many of its runs may be held at once, over all workers; without it there is no limit. */
  readonly concurrency?: number | undefined
}

/** The frozen queue of a definition; throws one error with all its faults. */
export function defineQueue(name: string, input: QueueOptions = {}): Queue {
  const place = placeOf()
  const queue = readQueue({ name, input }, place)
  refuse(`queue ${shown(name)}`, place.faults)
  return queue as Queue
}

/** The frozen queue of a definition, or undefined where something was wrong, which is noted at the place. */
export function readQueue(
  written: { readonly name: unknown; readonly input: unknown },
  place: Place,
): Queue | undefined {
  const before = place.faults.length
  const name = readName(written.name, place)
  const input = readOptions(written.input, ['concurrency'], place)
  if (name === undefined || input === undefined) return undefined
  const concurrency = readConcurrency(input['concurrency'], within(place, 'concurrency'))
  return place.faults.length > before ? undefined : frozen({ name, concurrency })
}
