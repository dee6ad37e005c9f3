import { basename, resolve } from 'node:path'
import type { CalendarSpec, Span } from '../kernel/calendar/calendar.js'
import { mostSpans, unionOf } from '../kernel/calendar/define-calendar.js'
import { fault, type Place } from '../kernel/definition/faults.js'
import { DAY_MS, firstDayOf, monthLength, packedDateOf, weekdayOf } from '../time/civil.js'
import { parseLocalTime, resolveLocalTime } from '../time/local-time.js'
import { TimeError } from '../time/time-error.js'
import { readUserFileSync } from './user-file.js'

const maxBytes = 4 * 1_048_576

/** The times of the events of an iCalendar file; records its faults at the place, each with its line. */
export function readIcsFile(path: string, directory: string, place: Place): CalendarSpec | undefined {
  const found = readUserFileSync(resolve(directory, path), maxBytes)
  if (found.kind !== 'read') return fault(place, `${path} cannot be read: ${found.why}`)
  return readIcs(found.bytes.toString('utf8'), basename(path), place)
}

/** The times of the events of an iCalendar text. */
export function readIcs(text: string, name: string, place: Place): CalendarSpec | undefined {
  const lines = unfolded(text)
  if (!lines.some(({ text: line }) => line.trim().toUpperCase() === 'BEGIN:VCALENDAR'))
    return fault(place, `${name} is not an iCalendar file`, 'a text that begins with BEGIN:VCALENDAR')
  const before = place.faults.length
  const specs: CalendarSpec[] = []
  for (const event of eventsOf(lines)) {
    try {
      specs.push(timesOf(event))
    } catch (error) {
      if (!(error instanceof IcsFault || error instanceof TimeError)) throw error
      fault(place, `${name}:${event.line}: ${error.message}`)
    }
  }
  return place.faults.length > before ? undefined : unionOf(specs)
}

class IcsFault extends Error {}

interface Line {
  readonly text: string
  readonly line: number
}

/** Joins folded lines: a line that begins with a space continues the previous one. */
function unfolded(text: string): Line[] {
  const lines: { text: string; line: number }[] = []
  for (const [index, part] of text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .entries()) {
    const last = lines.at(-1)
    if (last !== undefined && /^[ \t]/.test(part)) last.text += part.slice(1)
    else lines.push({ text: part, line: index + 1 })
  }
  return lines
}

interface IcsEvent {
  readonly line: number
  /** The values of its properties, with their parameters. */
  readonly properties: ReadonlyMap<string, readonly Property[]>
}

interface Property {
  readonly parameters: Readonly<Record<string, string>>
  readonly value: string
}

function eventsOf(lines: readonly Line[]): IcsEvent[] {
  const events: IcsEvent[] = []
  let open: { line: number; properties: Map<string, Property[]> } | undefined
  let nested = 0
  for (const { text, line } of lines) {
    const match = /^([A-Za-z-]+)((?:;[^:;=]+=(?:"[^"]*"|[^:;"]*))*):(.*)$/.exec(text)
    if (match === null) continue
    const [, name = '', given = '', value = ''] = match
    const key = name.toUpperCase()
    if (key === 'BEGIN' && value.trim().toUpperCase() === 'VEVENT') open = { line, properties: new Map() }
    else if (key === 'BEGIN' && open !== undefined) nested += 1
    else if (key === 'END' && nested > 0) nested -= 1
    else if (key === 'END' && open !== undefined) {
      events.push(open)
      open = undefined
    } else if (open !== undefined && nested === 0) {
      const parameters = Object.fromEntries(
        [...given.matchAll(/;([^:;=]+)=("[^"]*"|[^:;"]*)/g)].map(([, one = '', text = '']) => [
          one.toUpperCase(),
          text.replace(/^"|"$/g, ''),
        ]),
      )
      open.properties.set(key, [...(open.properties.get(key) ?? []), { parameters, value: value.trim() }])
    }
  }
  return events
}

/** A date, a time without a zone, or an instant. */
interface Edge {
  readonly kind: 'date' | 'local' | 'instant'
  readonly localMs: number
  readonly toMs: (localMs: number) => number
}

function timesOf({ properties }: IcsEvent): CalendarSpec {
  const [start] = properties.get('DTSTART') ?? []
  if (start === undefined) throw new IcsFault('the event has no DTSTART')
  if (properties.get('STATUS')?.[0]?.value.toUpperCase() === 'CANCELLED') return {}
  const from = edgeOf(start)
  const lengthMs = lengthOf(properties, from)
  const excepted = (properties.get('EXDATE') ?? []).flatMap(({ parameters, value }) =>
    value.split(',').map((one) => edgeOf({ parameters, value: one }).localMs),
  )
  const spans = occurrences(properties.get('RRULE')?.[0]?.value, from.localMs)
    .filter((localMs) => !excepted.includes(localMs))
    .map((localMs): Span => [from.toMs(localMs), from.toMs(localMs + lengthMs)])
  return from.kind === 'instant' ? { instants: spans } : { local: spans }
}

function edgeOf({ parameters, value }: Property): Edge {
  const match = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/.exec(value)
  if (match === null) throw new IcsFault(`${value.slice(0, 40)} is not a date or a time`)
  const [, year, month, day, hour = '00', minute = '00', second = '00', utc] = match
  // Leap seconds are not supported here.
  const text = `${year}-${month}-${day}T${hour}:${minute}:${second === '60' ? '59' : second}`
  const { localMs } = parseLocalTime(text)
  if (match[4] === undefined) return { kind: 'date', localMs, toMs: (ms) => ms }
  if (utc === 'Z') return { kind: 'instant', localMs, toMs: (ms) => ms }
  const zone = parameters['TZID']
  if (zone === undefined) return { kind: 'local', localMs, toMs: (ms) => ms }
  return {
    kind: 'instant',
    localMs,
    toMs: (ms) => resolveLocalTime(new Date(ms).toISOString().slice(0, 19), zone),
  }
}

function lengthOf(properties: IcsEvent['properties'], from: Edge): number {
  const [end] = properties.get('DTEND') ?? []
  const duration = properties.get('DURATION')?.[0]?.value
  const lengthMs = end !== undefined ? edgeOf(end).localMs - from.localMs : durationMs(duration)
  const usualMs = from.kind === 'date' ? DAY_MS : 0
  if (lengthMs !== undefined && lengthMs < 0) throw new IcsFault('the event ends before it starts')
  return lengthMs === undefined || lengthMs === 0 ? usualMs : lengthMs
}

function durationMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const match = /^\+?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(text)
  if (match === null) throw new IcsFault(`${text.slice(0, 40)} is not a duration`)
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((one) => Number(one ?? 0))
  return ((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000
}

const parts = ['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'BYMONTH', 'BYMONTHDAY', 'BYDAY', 'WKST']
const dayNames = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']
/** The end of a rule without an end, so that the meaning of a file does not depend on when it is read. */
const lastYear = 2100

/** The local times at which an event begins. */
function occurrences(rule: string | undefined, firstMs: number): readonly number[] {
  if (rule === undefined) return [firstMs]
  const given = new Map(rule.split(';').map((part) => part.toUpperCase().split('=', 2) as [string, string]))
  const unknown = [...given.keys()].find((key) => !parts.includes(key))
  if (unknown !== undefined)
    throw new IcsFault(`RRULE part ${unknown.slice(0, 40)} is not supported (supported: ${parts.join(', ')})`)
  const count = Number(given.get('COUNT') ?? Infinity)
  const until = given.get('UNTIL')
  const lastMs = Math.min(
    until === undefined ? Infinity : edgeOf({ parameters: {}, value: until }).localMs,
    firstDayOf(lastYear * 12) * DAY_MS,
  )
  const [firstDay, timeMs] = [Math.floor(firstMs / DAY_MS), firstMs % DAY_MS]
  const found: number[] = []
  for (const day of ruleDays(given, firstDay)) {
    const at = day * DAY_MS + timeMs
    if (at > lastMs || found.length >= count) break
    if (at >= firstMs) found.push(at)
    if (found.length > mostSpans)
      throw new IcsFault(`the event repeats more than ${mostSpans} times; give it an UNTIL`)
  }
  return found
}

function* ruleDays(rule: ReadonlyMap<string, string>, firstDay: number): Generator<number> {
  const every = Number(rule.get('INTERVAL') ?? 1)
  if (!Number.isInteger(every) || every < 1) throw new IcsFault('INTERVAL is not a whole number')
  const byDay = (rule.get('BYDAY') ?? '')
    .split(',')
    .filter((one) => one !== '')
    .map(readByDay)
  const frequency = rule.get('FREQ') ?? ''
  switch (frequency) {
    case 'DAILY':
      for (let day = firstDay; ; day += every) yield day
    case 'WEEKLY': {
      const monday = firstDay - ((weekdayOf(firstDay) + 6) % 7)
      const days = byDay.length === 0 ? [weekdayOf(firstDay)] : byDay.map(({ weekday }) => weekday)
      const offsets = days.map((weekday) => (weekday + 6) % 7).toSorted((a, b) => a - b)
      for (let week = monday; ; week += 7 * every) for (const offset of offsets) yield week + offset
    }
    case 'MONTHLY':
    case 'YEARLY': {
      const firstMonth = packedDateOf(firstDay) >> 5
      const months = numbersOf(rule.get('BYMONTH')) ?? [(firstMonth % 12) + 1]
      const inMonth = (month: number): boolean =>
        frequency === 'MONTHLY'
          ? (month - firstMonth) % every === 0 &&
            (rule.get('BYMONTH') === undefined || months.includes((month % 12) + 1))
          : Math.floor(month / 12 - Math.floor(firstMonth / 12)) % every === 0 &&
            months.includes((month % 12) + 1)
      const monthDays = numbersOf(rule.get('BYMONTHDAY'))
      for (let month = firstMonth; ; month++)
        if (inMonth(month))
          yield* daysOfMonth(month, { byDay, monthDays: monthDays ?? [packedDateOf(firstDay) & 31] })
    }
    default:
      throw new IcsFault(
        `FREQ ${frequency.slice(0, 40)} is not supported (supported: DAILY, WEEKLY, MONTHLY, YEARLY)`,
      )
  }
}

interface ByDay {
  readonly weekday: number
  /** Which of the month, counted from its end if negative; 0 means all of them. */
  readonly nth: number
}

function readByDay(text: string): ByDay {
  const match = /^([+-]?\d)?(SU|MO|TU|WE|TH|FR|SA)$/.exec(text)
  if (match === null) throw new IcsFault(`BYDAY ${text.slice(0, 40)} is not supported`)
  return { nth: Number(match[1] ?? 0), weekday: dayNames.indexOf(match[2] ?? '') }
}

function daysOfMonth(
  month: number,
  { byDay, monthDays }: { byDay: readonly ByDay[]; monthDays: readonly number[] },
): number[] {
  const [first, length] = [firstDayOf(month), monthLength(month)]
  const all = Array.from({ length }, (_, index) => first + index)
  if (byDay.length === 0)
    return all.filter(
      (day) => monthDays.includes(day - first + 1) || monthDays.includes(day - first - length),
    )
  return all.filter((day) =>
    byDay.some(({ weekday, nth }) => {
      if (weekdayOf(day) !== weekday) return false
      const [fromStart, fromEnd] = [
        Math.floor((day - first) / 7) + 1,
        -Math.floor((first + length - 1 - day) / 7) - 1,
      ]
      return nth === 0 || nth === fromStart || nth === fromEnd
    }),
  )
}

function numbersOf(text: string | undefined): readonly number[] | undefined {
  return text?.split(',').map(Number)
}
