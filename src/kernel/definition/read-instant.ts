import { parseInstant, type Instant } from '../../time/instant.js'
import { resolveLocalTime } from '../../time/local-time.js'
import { refuse } from './errors.js'
import { fault, placeOf, shown, within, type Place } from './faults.js'
import { timed } from './read-value.js'

/** An instant as options take it: a Date, or a text such as `2026-01-05T09:00:00Z`. */
export type InstantInput = Date | string

/** Reads an instant; a text without an offset is a local time in the zone, and a fault where there is none. */
export function readInstant(value: unknown, place: Place, timezone?: string): Instant | undefined {
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? fault(place, 'the Date is invalid') : value.getTime()
  }
  if (typeof value !== 'string') {
    return fault(place, `${shown(value)} is not an instant`, 'a text such as 2026-01-05T09:00:00Z, or a Date')
  }
  // Only the reader of instants takes fractions of a second.
  const isLocal = timezone !== undefined && !value.includes('.')
  return timed(place, () => (isLocal ? resolveLocalTime(value, timezone) : parseInstant(value)))
}

/** The instants of a call by the names of its options; throws one error with all faults. */
export function readInstants<Name extends string>(
  what: string,
  given: Readonly<Record<Name, InstantInput | undefined>>,
): Record<Name, Instant | undefined> {
  const place = placeOf()
  const read = Object.entries(given).map(([name, value]) => [
    name,
    value === undefined ? undefined : readInstant(value, within(place, name)),
  ])
  refuse(what, place.faults)
  return Object.fromEntries(read) as Record<Name, Instant | undefined>
}
