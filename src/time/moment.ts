import { DAY_MS } from './civil.js'
import { parseDuration } from './duration.js'
import { parseInstant, type Instant } from './instant.js'
import { formatCivil, resolveLocalTime } from './local-time.js'
import { TimeError } from './time-error.js'
import { quotedText } from '../text/error-text.js'
import { zoneOf } from './zone.js'

/** The zone and the current time to which a written time is relative. */
export interface Here {
  /** The zone in which a text without an offset is read. */
  readonly zone: string
  readonly now: Instant
}

/** A range of time, both ends included; a single instant if they are equal. */
export interface Window {
  readonly fromAt: Instant
  readonly untilAt: Instant
}

/**
 * Reads a time: `now`, `yesterday`, `today`, `tomorrow`, `-2h`, `+5m`, `PT5M`, `2026-01-05`, `09:30`,
 * `2026-01-05T09:00` or a full instant. `bare` decides whether a duration without a sign is in the past or the future.
 */
export function parseMoment(text: string, options: Here & { readonly bare: 'ago' | 'ahead' }): Instant {
  const { now, bare } = options
  if (text === 'now') return now
  const [, sign, length] = /^([+-]?)(P.*|\d+[a-z].*)$/.exec(text) ?? []
  if (length !== undefined) {
    const isPast = sign === '-' || (sign === '' && bare === 'ago')
    return now + (isPast ? -1 : 1) * parseDuration(length)
  }
  const day = dayOf(text, options)
  if (day !== undefined) return startOfDay(day, options.zone)
  return parseWritten(text, options)
}

/** Reads a range of time: `A..B`, a day (`today`, `yesterday`, `2026-01-05`), the last `-2h`, or one instant. */
export function parseWindow(text: string, here: Here): Window {
  const { now, zone } = here
  const [first, last, ...more] = text.split('..')
  if (last !== undefined && more.length === 0) return fromTo(first ?? '', last, here)
  const day = dayOf(text, here)
  if (day !== undefined) return { fromAt: startOfDay(day, zone), untilAt: endOfDay(day, zone) }
  const at = parseMoment(text, { ...here, bare: 'ago' })
  // The single instant `now - 2h` is almost never a due one, so `-2h` means the time since then.
  const isCounted = text !== 'now' && /^[+-]?(P|\d+[a-z])/.test(text)
  return isCounted ? { fromAt: Math.min(at, now), untilAt: Math.max(at, now) } : { fromAt: at, untilAt: at }
}

function fromTo(first: string, last: string, here: Here): Window {
  const fromAt = parseMoment(first, { ...here, bare: 'ago' })
  const day = dayOf(last, here)
  const untilAt = day === undefined ? untilOf(last, here) : endOfDay(day, here.zone)
  if (untilAt >= fromAt) return { fromAt, untilAt }
  throw refusal(`${first}..${last}`, 'ends before it begins')
}

function untilOf(last: string, here: Here): Instant {
  return last === '' ? here.now : parseMoment(last, { ...here, bare: 'ago' })
}

const daysFromToday: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 }

/** The first millisecond of a day as if it were UTC; undefined if the text does not name a day. */
function dayOf(text: string, { zone, now }: Here): number | undefined {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return parseDate(text)
  const days = Object.hasOwn(daysFromToday, text) ? daysFromToday[text] : undefined
  if (days === undefined) return undefined
  const today = Math.floor(zoneOf(zone).toLocal(now) / DAY_MS) * DAY_MS
  return today + days * DAY_MS
}

function parseDate(text: string): number {
  try {
    return resolveLocalTime(`${text}T00:00`, 'UTC')
  } catch (error) {
    throw refusal(text, 'no such day', error)
  }
}

function startOfDay(day: number, zone: string): Instant {
  return resolveLocalTime(formatCivil(day), zone)
}

function endOfDay(day: number, zone: string): Instant {
  return startOfDay(day + DAY_MS, zone) - 1
}

function parseWritten(text: string, { zone, now }: Here): Instant {
  const today = formatCivil(zoneOf(zone).toLocal(now)).slice(0, 10)
  const full = /^\d\d:\d\d/.test(text) ? `${today}T${text}` : text
  try {
    return full.includes('.') ? parseInstant(full) : resolveLocalTime(full, zone)
  } catch (error) {
    if (error instanceof TimeError && error.code === 'ZONE_UNKNOWN') throw error
    throw refusal(
      text,
      error instanceof TimeError ? error.message.replace(/^".*": /, '') : 'not a time',
      error,
    )
  }
}

const allowed =
  'now, today, yesterday, tomorrow, -2h, +5m, 2026-01-05, 09:30, 2026-01-05T09:00 or 2026-01-05T09:00:00Z'

function refusal(text: string, problem: string, cause?: unknown): TimeError {
  const error = new TimeError('LOCAL_TIME_INVALID', `${quotedText(text)}: ${problem}`, {
    allowed,
  })
  if (cause !== undefined) error.cause = cause
  return error
}
