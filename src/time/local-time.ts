import { readDateTime } from './date-time-text.js'
import { formatInstant, type Instant } from './instant.js'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from './civil.js'
import { type Zone, zoneOf } from './zone.js'

/** A parsed civil time: in milliseconds as if it were UTC, with the offset of the text, if any. */
export interface LocalTime {
  readonly localMs: number
  readonly offsetMs: number | undefined
}

/** Reads `YYYY-MM-DDTHH:MM[:SS][Z|±HH:MM]`, where a space may replace the T. */
export function parseLocalTime(text: string): LocalTime {
  return readDateTime(text, {
    code: 'LOCAL_TIME_INVALID',
    allowed: 'YYYY-MM-DDTHH:MM[:SS] with or without Z or an offset such as +07:00',
    isOffsetRequired: false,
    isSecondRequired: false,
    isFractionAllowed: false,
  })
}

/**
 * The instant of a text: its own offset wins, otherwise it is local to the zone. A time that clocks skip
 * moves forward by the length of the jump; of a time that occurs twice the first is used.
 */
export function resolveLocalTime(text: string, zoneName: string): Instant {
  const zone = zoneOf(zoneName)
  const { localMs, offsetMs } = parseLocalTime(text)
  if (offsetMs !== undefined) return localMs - offsetMs
  const resolution = zone.resolve(localMs)
  if (resolution.kind === 'gap') return resolution.after
  return resolution.kind === 'overlap' ? resolution.first : resolution.at
}

/** Formats an instant as the zone's civil time with its offset, such as `2026-01-05T09:00:00+07:00`. */
export function formatLocal(at: Instant, zone: Zone): string {
  const offsetMs = zone.offsetAt(at)
  return formatCivil(at + offsetMs) + formatOffset(offsetMs)
}

/** Formats a civil time without offset, such as `2026-01-05T09:00:00`. */
export function formatCivil(localMs: number): string {
  return formatInstant(localMs).slice(0, -1)
}

/** Formats an offset such as `+07:00`. */
export function formatOffset(offsetMs: number): string {
  const ms = Math.abs(offsetMs)
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const minutes = `${offsetMs < 0 ? '-' : '+'}${two(ms / HOUR_MS)}:${two((ms % HOUR_MS) / MINUTE_MS)}`
  // Some zones had offsets with seconds until 1972; without them the text would be another instant.
  return ms % MINUTE_MS === 0 ? minutes : `${minutes}:${two((ms % MINUTE_MS) / SECOND_MS)}`
}
