import { formatInstant, type Instant } from '../../../time/instant.js'

/**
 * A value as `--json` prints it: instants as ISO texts, and null where there is nothing, so that keys never vanish. A
 * number is an instant where its key is `at` or ends in `At` or `Until`. What users put into a store is printed as it is.
 */
export function toJson(value: unknown): unknown {
  if (value === undefined) return null
  if (value instanceof Date) return formatInstant(value.getTime())
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      if (foreign.has(key)) return [key, one ?? null]
      return [key, isInstant(key, one) ? formatInstant(one) : toJson(one)]
    }),
  )
}

/** The keys of values that are not Rota's own: a number in them is a number, whatever its key. */
const foreign: ReadonlySet<string> = new Set([
  'payload',
  'result',
  'params',
  'labels',
  'metadata',
  'body',
  'details',
  'state',
  'before',
  'after',
])

/** Whether a number is an instant, by the name of its key. */
export function isInstant(key: string, value: unknown): value is Instant {
  return typeof value === 'number' && /(?:^at|At|Until)$/.test(key)
}

/** Some fields of a record, in this order; those that it lacks are undefined. */
export function pick<Row extends object, Key extends keyof Row>(
  row: Row,
  keys: readonly Key[],
): Pick<Row, Key> {
  return Object.fromEntries(keys.map((key) => [key, row[key]])) as unknown as Pick<Row, Key>
}
