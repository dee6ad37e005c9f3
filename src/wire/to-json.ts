import { withInstants } from '../time/dated.js'
import { formatInstant } from '../time/instant.js'

/**
 * A value as `--json` prints it: instants as ISO texts, and null where there is nothing, so that keys never vanish. What
 * users put into a store is printed as it is.
 */
export function toJson(value: unknown): unknown {
  if (value === undefined) return null
  if (value instanceof Date) return formatInstant(value.getTime())
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== 'object' || value === null) return value
  const become = { instant: formatInstant, other: toJson }
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, withInstants(key, one, become) ?? null]),
  )
}

/** Some fields of a record, in this order; those that it lacks are undefined. */
export function pick<Row extends object, Key extends keyof Row>(
  row: Row,
  keys: readonly Key[],
): Pick<Row, Key> {
  return Object.fromEntries(keys.map((key) => [key, row[key]])) as unknown as Pick<Row, Key>
}
