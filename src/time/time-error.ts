import { errorText } from '../text/error-text.js'

/** Why a text or value was refused; codes are stable, so callers and tests may compare them. */
export type TimeErrorCode = keyof typeof meanings

const meanings = {
  CRON_SYNTAX: 'The cron expression contains something that is not a value, name, list, range or step.',
  CRON_FIELD_COUNT: 'The cron expression does not have five, six or seven fields.',
  CRON_RANGE: 'A value, range or step of the cron expression lies outside what its field allows.',
  CRON_UNSUPPORTED: 'The cron expression uses a form of another cron dialect that Rota does not support.',
  CRON_NEVER: 'The cron expression is well-formed but has no occurrence.',
  DST_UNKNOWN: 'The daylight saving policy is not one of the known names.',
  ZONE_UNKNOWN: 'The time zone is not an IANA name that this Node.js knows.',
  DURATION_INVALID: 'The duration is malformed, negative, longer than a century or in calendar units.',
  INSTANT_INVALID: 'The instant is malformed, impossible or outside the years 0000 to 9999.',
  LOCAL_TIME_INVALID: 'The local time is malformed or names a date or time of day that does not exist.',
  INTERVAL_INVALID: 'The interval is not a whole, positive number of milliseconds on a valid anchor.',
  BOUNDS_INVALID: 'The bounds of a schedule are not instants, or its end lies before its start.',
  COUNT_INVALID: 'The requested number of occurrences is not a whole number within its limits.',
} as const

/** Every error code of `time/` with its meaning in one sentence, for the catalogue in the docs. */
export const timeErrorCodes: Readonly<Record<TimeErrorCode, string>> = Object.freeze(meanings)

/** The details of an error, in addition to its message. */
export interface TimeErrorDetails {
  readonly position?: number | undefined
  readonly allowed?: string | undefined
}

/** An invalid text or value of time: what is wrong, where, and what would be accepted. */
export class TimeError extends Error {
  override readonly name = 'TimeError'
  readonly code: TimeErrorCode
  /** Offset into the input, counted from 0; undefined if the whole input is at fault. */
  readonly position: number | undefined
  /** What would be accepted at that position. */
  readonly allowed: string | undefined

  constructor(code: TimeErrorCode, message: string, details: TimeErrorDetails = {}) {
    super(errorText(message))
    this.code = code
    this.position = details.position
    this.allowed = details.allowed
  }
}
