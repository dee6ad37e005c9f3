import { withInstants } from '../time/dated.js'
import { formatInstant } from '../time/instant.js'

/**
 * A value as `--json` prints it: instants as ISO texts, and null for undefined, so that keys never vanish. Values of
 * users, such as payloads, are printed unchanged.
 */
export function toJson(value: unknown): unknown {
  if (value === undefined) return null
  if (value instanceof Date) return formatInstant(value.getTime())
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== 'object' || value === null) return value
  const json: Record<string, unknown> = {}
  // Plain loops here and below: this is most of the work of an answer, and array methods take three times as long.
  for (const [key, one] of Object.entries(value)) {
    const shown = withInstants(key, one, become) ?? null
    // An assignment would change the prototype instead of adding a field.
    if (key === '__proto__') Object.defineProperty(json, key, { value: shown, enumerable: true })
    else json[key] = shown
  }
  return json
}

const become = { instant: formatInstant, other: toJson }

/** Some fields of a record, in this order; missing ones are undefined. */
export function pick<Row extends object, Key extends keyof Row>(
  row: Row,
  keys: readonly Key[],
): Pick<Row, Key> {
  const picked: Partial<Pick<Row, Key>> = {}
  for (const key of keys) picked[key] = row[key]
  return picked as Pick<Row, Key>
}
