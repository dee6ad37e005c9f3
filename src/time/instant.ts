import { readDateTime } from './date-time-text.js'
import { TimeError } from './time-error.js'

/** A point on the time line, in Unix milliseconds. */
export type Instant = number

/** The first instant that `formatInstant` can write: the start of the year 0000. */
const FIRST_WRITABLE = -62_167_219_200_000
/** The first instant that `formatInstant` cannot write: the start of the year 10000. */
const END_WRITABLE = 253_402_300_800_000

/**
 * Parses an RFC 3339 instant. Digits beyond the millisecond are cut off, at most nine are accepted; a leap second
 * is an error, since Unix time has no instant for it.
 */
export function parseInstant(text: string): Instant {
  const { localMs, offsetMs } = readDateTime(text, {
    code: 'INSTANT_INVALID',
    allowed: 'an RFC 3339 instant such as 2026-01-05T09:00:00Z or 2026-01-05T09:00:00.250+07:00',
    isOffsetRequired: true,
    isSecondRequired: true,
    isFractionAllowed: true,
  })
  return assertWritable(localMs - (offsetMs ?? 0))
}

/** Formats an instant in UTC, with milliseconds only if they are not zero. */
export function formatInstant(at: Instant): string {
  const text = new Date(assertWritable(at)).toISOString()
  return text.endsWith('.000Z') ? `${text.slice(0, -5)}Z` : text
}

function assertWritable(at: Instant): Instant {
  if (at >= FIRST_WRITABLE && at < END_WRITABLE) return at
  throw new TimeError('INSTANT_INVALID', `${at} is not an instant within the years 0000 to 9999`, {
    allowed: 'a whole number of Unix milliseconds within the years 0000 to 9999',
  })
}
