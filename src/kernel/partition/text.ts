import { firstDayOf, HOUR_MS, monthLength } from '../../time/civil.js'
import type { Instant } from '../../time/instant.js'
import { parseLocalTime } from '../../time/local-time.js'
import { CALENDAR_END, CALENDAR_START, type Zone } from '../../time/zone.js'
import { shown } from '../definition/faults.js'
import { dayBegin, sliceAt, weekIndexOf, weekOf, type Slice, type SliceGrain, type Slicing } from './slice.js'

/** Why a label is invalid, and what would be accepted. */
export interface Refusal {
  readonly refused: string
  readonly allowed: string
}

/** Whether a label was refused. */
export function isRefusal(value: object): value is Refusal {
  return 'refused' in value
}

/** The slice of a label, or the reason why the label is invalid. */
export function parseSlice(slicing: Slicing, label: unknown): Slice | Refusal {
  const { grain } = slicing
  if (typeof label !== 'string') return refusal(grain, `${shown(label)} is not a text`)
  const match = patterns[grain].exec(label)
  if (match === null) return refusal(grain, `${shown(label)} is not the label of ${articles[grain]}`)
  const year = Number(match[1])
  if (year < firstYear || year > lastYear) return outsideCalendar(grain, label)
  const problem = calendarProblem(grain, match)
  if (problem !== undefined) return refusal(grain, `${shown(label)} does not exist: ${problem}`)
  const found = candidates(slicing, label, match)
    .map((at) => sliceAt(slicing, at))
    .find((slice) => slice.label === label)
  if (found === undefined) return neverReached(slicing, label)
  const isInCalendar = found.untilAt > CALENDAR_START && found.fromAt < CALENDAR_END
  return isInCalendar ? found : outsideCalendar(grain, label)
}

const patterns: Readonly<Record<SliceGrain, RegExp>> = {
  hour: /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):00(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)$/,
  day: /^(\d{4})-(\d{2})-(\d{2})$/,
  week: /^(\d{4})-W(\d{2})$/,
  month: /^(\d{4})-(\d{2})$/,
}

const articles = { hour: 'an hour', day: 'a day', week: 'a week', month: 'a month' } as const

const examples: Readonly<Record<SliceGrain, string>> = {
  hour: 'an hour with its offset such as 2025-01-15T14:00-05:00, or Z',
  day: 'a date such as 2025-01-15',
  week: 'an ISO week such as 2026-W01',
  month: 'a month such as 2026-01',
}

/** West of Greenwich the calendar begins in the last hours of 1969, and its last ISO week may belong to 2200. */
const firstYear = 1969
const lastYear = 2200

function refusal(grain: SliceGrain, refused: string, allowed = examples[grain]): Refusal {
  return { refused, allowed }
}

function outsideCalendar(grain: SliceGrain, label: string): Refusal {
  return refusal(grain, `${shown(label)} is outside the calendar`, 'the years 1970 to 2199')
}

/** Why a label is impossible in every zone. */
function calendarProblem(grain: SliceGrain, match: RegExpExecArray): string | undefined {
  const [, year = '', second = '', day = ''] = match
  if (grain === 'week') {
    const weeks = weeksOf(Number(year))
    return Number(second) >= 1 && Number(second) <= weeks
      ? undefined
      : `${year} has the weeks W01 to W${weeks}`
  }
  const month = Number(second)
  if (month < 1 || month > 12) return 'a year has the months 01 to 12'
  if (grain === 'month') return undefined
  const days = monthLength(Number(year) * 12 + month - 1)
  return Number(day) >= 1 && Number(day) <= days ? undefined : `${year}-${second} has the days 01 to ${days}`
}

/** The last week of a year is that of 28 December. */
function weeksOf(year: number): number {
  return weekOf(weekIndexOf(firstDayOf(year * 12 + 12) - 4)).week
}

/** Instants of which one is in the slice of that label, if there is such a slice. */
function candidates({ grain, zone }: Slicing, label: string, match: RegExpExecArray): readonly Instant[] {
  const [, year, second, day] = match
  const monthIndex = Number(year) * 12 + Number(second) - 1
  switch (grain) {
    case 'hour': {
      const { localMs, offsetMs = 0 } = parseLocalTime(label)
      // If the offset changes within the hour, the label matches its beginning or its end.
      return [localMs - offsetMs, localMs - offsetMs + HOUR_MS - 1]
    }
    case 'day':
      return [dayBegin(zone, firstDayOf(monthIndex) + Number(day) - 1)]
    case 'week': {
      const firstWeek = weekIndexOf(firstDayOf(Number(year) * 12) + 3)
      return [dayBegin(zone, (firstWeek + Number(second) - 1) * 7 - 3)]
    }
    case 'month':
      return [dayBegin(zone, firstDayOf(monthIndex))]
  }
}

function neverReached(slicing: Slicing, label: string): Refusal {
  const { grain, zone } = slicing
  const others = grain === 'hour' ? hoursLike(slicing, label) : []
  const why =
    others.length === 0 ? `in ${zone.name} clocks skip it` : `at that hour ${zone.name} has another offset`
  const allowed = others.length === 0 ? undefined : others.join(' or ')
  return refusal(grain, `${shown(label)} does not exist: ${why}`, allowed)
}

/** The labels of the same hour of the same day, with the offsets that the zone had then. */
function hoursLike(slicing: Slicing, label: string): readonly string[] {
  const { localMs } = parseLocalTime(label)
  const labels = [...instantsOf(slicing.zone, localMs), ...instantsOf(slicing.zone, localMs + HOUR_MS - 1)]
    .map((at) => sliceAt(slicing, at).label)
    .filter((other) => other.slice(0, 16) === label.slice(0, 16))
  return [...new Set(labels)]
}

function instantsOf(zone: Zone, localMs: number): readonly Instant[] {
  const resolution = zone.resolve(localMs)
  if (resolution.kind === 'gap') return []
  return resolution.kind === 'unique' ? [resolution.at] : [resolution.first, resolution.second]
}
