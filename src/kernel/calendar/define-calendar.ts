import { DAY_MS } from '../../time/civil.js'
import { assertFires } from '../../time/cron/schedule.js'
import { parseLocalTime } from '../../time/local-time.js'
import { MAX_DURATION_MS } from '../../time/duration.js'
import { fault, shown, within, type Place } from '../definition/faults.js'
import { frozen } from '../definition/frozen.js'
import {
  didYouMean,
  readChoice,
  readDuration,
  readName,
  readOptions,
  timed,
  type Entry,
  type Written,
} from '../definition/read-value.js'
import type { CalendarSpec, CronWindow, Span } from './calendar.js'

/** A set of days and times as code or a config writes it: the union of its lists. */
export interface CalendarInput {
  /** Days such as `2026-12-25`, or `12-25` for every year. */
  readonly days?: string | readonly string[] | undefined
  /** Days of the week: `mon`, `tue`, `wed`, `thu`, `fri`, `sat`, `sun`. */
  readonly weekdays?: Weekday | readonly Weekday[] | undefined
  /** Periods of days or of times. */
  readonly ranges?: readonly RangeInput[] | undefined
  /** Periods that begin whenever a cron expression matches. */
  readonly windows?: readonly WindowInput[] | undefined
  /** iCalendar files whose events are included; a path is relative to the config file. */
  readonly ics?: string | readonly string[] | undefined
  /** Other calendars that are included. */
  readonly calendars?: string | readonly string[] | undefined
  /** Calendars that are removed from it. */
  readonly except?: string | readonly string[] | undefined
}

/** A day of the week. */
export type Weekday = (typeof weekdayNames)[number]

/** A period: two dates, both included, or two times, the second not included. */
export interface RangeInput {
  readonly from: string
  readonly to: string
}

/** A period after each match of a cron expression. */
export interface WindowInput {
  readonly cron: string
  /** Its length, such as `8h`; from `1m` to `366d`. */
  readonly for: string | number
}

/** Calendars by name. */
export type Calendars = ReadonlyMap<string, CalendarSpec>

/** What reading a calendar needs besides its definition. */
export interface CalendarSources {
  /** The calendars that were already read. */
  readonly known: Calendars
  /** Returns the times of an iCalendar file; records its faults at the place. */
  readonly readIcs: (path: string, place: Place) => CalendarSpec | undefined
}

const weekdayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const

/** The most days, ranges or events that a calendar may have. */
export const mostSpans = 10_000

/** Reads a frozen calendar; records faults at the place and returns undefined if there are any. */
export function readCalendar(
  { name, input: written }: Entry,
  sources: CalendarSources,
  place: Place,
): readonly [name: string, spec: CalendarSpec] | undefined {
  const before = place.faults.length
  const known = readName(name, place)
  const input = readOptions(written, calendarOptionNames, place)
  if (input === undefined) return undefined
  if (calendarOptionNames.every((option) => option === 'except' || input[option] === undefined))
    fault(place, 'it has no times', calendarOptionNames.filter((option) => option !== 'except').join(', '))
  const spec = unionOf([
    ...readTimes(input, place),
    ...readTexts(input['ics'], within(place, 'ics')).flatMap(([path, at]) => sources.readIcs(path, at) ?? []),
    ...readNames(input['calendars'], sources.known, within(place, 'calendars')).map(({ times }) => times),
  ])
  const except = readNames(input['except'], sources.known, within(place, 'except')).map(({ times }) => times)
  if ((spec.local?.length ?? 0) + (spec.instants?.length ?? 0) > mostSpans)
    fault(place, 'it has too many days and events', `at most ${mostSpans}`)
  if (place.faults.length > before || known === undefined) return undefined
  return [known, frozen(except.length === 0 ? spec : { also: [spec], except })]
}

const calendarOptionNames = ['days', 'weekdays', 'ranges', 'windows', 'ics', 'calendars', 'except'] as const

function readTimes(input: Written, place: Place): CalendarSpec[] {
  return [
    ...readTexts(input['days'], within(place, 'days')).flatMap(([text, at]) => readDay(text, at) ?? []),
    ...readTexts(input['weekdays'], within(place, 'weekdays')).flatMap(([text, at]) => {
      const day = readChoice(text, weekdayNames, at)
      return day === undefined ? [] : [{ weekdays: [weekdayNames.indexOf(day)] }]
    }),
    ...readItems(input['ranges'], within(place, 'ranges')).flatMap(([range, at]) => {
      return readRange(readOptions(range, ['from', 'to'], at) ?? {}, at) ?? []
    }),
    ...readItems(input['windows'], within(place, 'windows')).flatMap(([window, at]) => {
      const read = readWindow(readOptions(window, ['cron', 'for'], at) ?? {}, at)
      return read === undefined ? [] : [{ windows: [read] }]
    }),
  ]
}

function readDay(text: string, place: Place): CalendarSpec | undefined {
  const allowed = 'a day such as 2026-12-25, or 12-25 for every year'
  if (/^\d\d-\d\d$/.test(text)) {
    // 2024 is a leap year, so it has every day that a year can have.
    const isDay = timed(place, () => parseLocalTime(`2024-${text}T00:00`)) !== undefined
    return isDay ? { yearly: [text] } : undefined
  }
  if (!isDate(text)) return fault(place, `${shown(text)} is not a day`, allowed)
  const day = timed(place, () => parseLocalTime(`${text}T00:00`).localMs)
  return day === undefined ? undefined : { local: [[day, day + DAY_MS]] }
}

function isDate(text: unknown): text is string {
  return typeof text === 'string' && /^\d{4}-\d\d-\d\d$/.test(text)
}

/** Two dates with all days between them, or two times of the same kind. */
export function readRange(input: Written, place: Place): CalendarSpec | undefined {
  const [from, to] = (['from', 'to'] as const).map((name) => readEdge(input[name], within(place, name)))
  if (from === undefined || to === undefined) return undefined
  if (from.kind !== to.kind)
    return fault(within(place, 'to'), `it is ${to.kind} and from is ${from.kind}`, 'both of the same kind')
  const span: Span = [from.ms, to.kind === 'a date' ? to.ms + DAY_MS : to.ms]
  if (span[1] <= span[0]) return fault(within(place, 'to'), `${shown(input['to'])} is not later than from`)
  return from.kind === 'an instant' ? { instants: [span] } : { local: [span] }
}

function readEdge(value: unknown, place: Place) {
  const allowed = 'a date such as 2026-12-24, or a time such as 2026-12-24T18:00 or 2026-12-24T18:00Z'
  if (typeof value !== 'string') return fault(place, `${shown(value)} is neither a date nor a time`, allowed)
  const read = timed(place, () => parseLocalTime(isDate(value) ? `${value}T00:00` : value))
  if (read === undefined) return undefined
  if (isDate(value)) return { kind: 'a date', ms: read.localMs } as const
  if (read.offsetMs === undefined) return { kind: 'a local time', ms: read.localMs } as const
  return { kind: 'an instant', ms: read.localMs - read.offsetMs } as const
}

const windowBounds = { min: 60_000, max: Math.min(366 * DAY_MS, MAX_DURATION_MS), allowed: 'from 1m to 366d' }

/** A cron expression and a length. */
export function readWindow(input: Written, place: Place): CronWindow | undefined {
  const { cron } = input
  if (typeof cron !== 'string')
    return fault(
      within(place, 'cron'),
      `${shown(cron)} is not a cron expression`,
      'a text such as 0 22 * * *',
    )
  timed(within(place, 'cron'), () => assertFires(cron, { timezone: 'UTC' }))
  if (input['for'] === undefined)
    return fault(within(place, 'for'), 'the length is missing', windowBounds.allowed)
  const forMs = readDuration(input['for'], windowBounds, within(place, 'for'))
  return forMs === undefined ? undefined : { cron, forMs }
}

/** Calendars by their names: one, or a list. */
export function readNames(
  value: unknown,
  known: Calendars,
  place: Place,
): readonly { readonly name: string; readonly times: CalendarSpec }[] {
  return readTexts(value, place).flatMap(([name, at]) => {
    const times = known.get(name)
    if (times !== undefined) return [{ name, times }]
    const names = [...known.keys()]
    fault(
      at,
      `no calendar is named ${shown(name)}${didYouMean(name, names)}`,
      names.join(', ') || 'none is defined',
    )
    return []
  })
}

/** A text, or a list of texts, each with its place. */
export function readTexts(value: unknown, place: Place): readonly (readonly [string, Place])[] {
  if (value === undefined) return []
  const list: readonly (readonly [unknown, Place])[] = Array.isArray(value)
    ? readItems(value, place)
    : [[value, place]]
  return list.flatMap(([one, at]) => {
    if (typeof one === 'string') return [[one, at] as const]
    fault(at, `${shown(one)} is not a text`)
    return []
  })
}

/** The items of a list with their places. */
export function readItems(value: unknown, place: Place): readonly (readonly [unknown, Place])[] {
  if (value === undefined) return []
  if (Array.isArray(value) && value.length <= mostSpans)
    return value.map((one: unknown, index) => [one, within(place, index)] as const)
  fault(
    place,
    Array.isArray(value) ? 'the list is too long' : `a list was expected, not ${shown(value)}`,
    `a list of at most ${mostSpans}`,
  )
  return []
}

/** The union of several sets; their lists are joined, so that lookups stay cheap. */
export function unionOf(specs: readonly CalendarSpec[]): CalendarSpec {
  const plain = specs.filter(({ except }) => except === undefined)
  const nested = specs.filter(({ except }) => except !== undefined)
  const all = (name: keyof CalendarSpec): unknown[] =>
    plain.flatMap((spec): readonly unknown[] => spec[name] ?? [])
  return definedOf({
    local: joined(all('local') as Span[]),
    yearly: [...new Set(all('yearly') as string[])].toSorted(),
    weekdays: [...new Set(all('weekdays') as number[])].toSorted((a, b) => a - b),
    instants: joined(all('instants') as Span[]),
    windows: all('windows'),
    also: [...(all('also') as CalendarSpec[]), ...nested],
  })
}

function definedOf(spec: Record<keyof Omit<CalendarSpec, 'except'>, readonly unknown[]>): CalendarSpec {
  return Object.fromEntries(Object.entries(spec).filter(([, list]) => list.length > 0))
}

/** Sorts spans and joins those that touch. */
function joined(spans: readonly Span[]): readonly Span[] {
  const result: [number, number][] = []
  for (const [from, until] of spans.toSorted((a, b) => a[0] - b[0])) {
    const last = result.at(-1)
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], until)
    else result.push([from, until])
  }
  return result
}
