import { fault, within, type Place } from '../definition/faults.js'
import { readDuration, readOptions, readWhole, type Written } from '../definition/read-value.js'
import { formatDuration } from '../../time/duration.js'
import { spacingOf, type RateLimit } from './rate-limit.js'

/** A rate: starts are spaced evenly, by `per` divided by `max`. */
export interface RateLimitOptions {
  /** How many attempts may start in each period. @minimum 1 @maximum 1000000 */
  readonly max: number
  /** The length of the period, such as `1m`, or milliseconds. */
  readonly per: string | number
  /** How many of them may start at once after a quiet time; default: 1. @minimum 1 @maximum 1000000 */
  readonly burst?: number | undefined
}

const rateBounds = { min: 1, max: 1_000_000 }
const periodBounds = { min: 1, max: 366 * 86_400_000, allowed: 'from 1ms to 366d' }

/** Reads the rate limits with these names; absent ones are left out. */
export function readRates<Name extends string>(
  input: Written,
  names: readonly Name[],
  place: Place,
): { readonly [name in Name]?: RateLimit } {
  const found: { [name in Name]?: RateLimit } = {}
  for (const name of names) {
    const limit = input[name] === undefined ? undefined : readRate(input[name], within(place, name))
    if (limit !== undefined) found[name] = limit
  }
  return found
}

/** Records a fault if the limit of one key allows more starts than the limit of all keys together. */
export function noteFasterKeys(
  {
    limit,
    limitPerKey,
  }: { readonly limit?: RateLimit | undefined; readonly limitPerKey?: RateLimit | undefined },
  place: Place,
): void {
  if (limit === undefined || limitPerKey === undefined || spacingOf(limitPerKey) >= spacingOf(limit)) return
  fault(
    within(place, 'limitPerKey'),
    `${rateText(limitPerKey)} contradicts \`limit\` (${rateText(limit)}): one key cannot start more than all keys together`,
    `at most ${rateText(limit)}`,
  )
}

function rateText({ max, perMs }: RateLimit): string {
  return `${max} in ${formatDuration(perMs)}`
}

function readRate(value: unknown, place: Place): RateLimit | undefined {
  const input = readOptions(value, ['max', 'per', 'burst'], place)
  if (input === undefined) return undefined
  for (const name of ['max', 'per'])
    if (input[name] === undefined) fault(within(place, name), 'it is missing')
  const max = readWhole(input['max'], rateBounds, within(place, 'max'))
  const perMs = readDuration(input['per'], periodBounds, within(place, 'per'))
  const burst = readWhole(input['burst'], rateBounds, within(place, 'burst')) ?? 1
  return max === undefined || perMs === undefined ? undefined : { max, perMs, burst }
}
