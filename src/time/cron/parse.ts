import { TimeError } from '../time-error.js'
import { nextBit, nextOfSixty, previousBit, previousOfSixty } from './bits.js'
import type { CronExpression, DayRules } from './expression.js'
import { cronFields } from './field.js'
import { cronRefusal, type FieldText, type FieldValues, readField } from './field-reader.js'

const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** Longer than any sensible list; bounds the work for hostile input. */
const LONGEST_EXPRESSION = 2000

/**
 * Parses a cron expression: five fields, six with seconds first, seven with the year last, or a nickname such as
 * `@daily`. Throws for everything else, with the position of the fault.
 */
export function parseCron(expression: string): CronExpression {
  if (typeof expression !== 'string') {
    throw new TimeError('CRON_SYNTAX', `A cron expression must be a string, not ${typeof expression}`)
  }
  if (expression.length > LONGEST_EXPRESSION) {
    const message = `The cron expression is longer than ${LONGEST_EXPRESSION} characters`
    throw new TimeError('CRON_SYNTAX', message, { position: LONGEST_EXPRESSION })
  }
  const fields = splitFields(expression)
  const first = fields[0]
  if (first !== undefined && expression.charCodeAt(first.start) === 64) {
    return assemble(expression, splitFields(expandNickname(expression, first.start)))
  }
  return assemble(expression, fields)
}

function expandNickname(expression: string, position: number): string {
  const name = expression.trim().toLowerCase()
  const expanded = Object.hasOwn(NICKNAMES, name) ? NICKNAMES[name] : undefined
  if (expanded !== undefined) return expanded
  const hints: Record<string, string> = {
    '@reboot': 'a start of the machine is not a time; use a trigger that fires once',
    '@every': 'use an interval instead of @every',
  }
  const hint = hints[name.split(/\s/)[0] ?? '']
  const code = hint === undefined ? 'CRON_SYNTAX' : 'CRON_UNSUPPORTED'
  const problem = hint ?? `${name.slice(0, 20)} is not a nickname`
  throw cronRefusal(code, problem, { text: expression, position, allowed: Object.keys(NICKNAMES).join(', ') })
}

function splitFields(text: string): FieldText[] {
  const fields: FieldText[] = []
  let position = 0
  while (position < text.length) {
    if (isSpace(text.charCodeAt(position))) {
      position += 1
      continue
    }
    const start = position
    while (position < text.length && !isSpace(text.charCodeAt(position))) position += 1
    fields.push({ text, start, end: position })
  }
  return fields
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13)
}

/** The defaults of omitted fields. */
const ON_THE_MINUTE: FieldText = { text: '0', start: 0, end: 1 }
const EVERY_YEAR: FieldText = { text: '*', start: 0, end: 1 }

function assemble(source: string, fields: readonly FieldText[]): CronExpression {
  const withSeconds = fields.length === 5 ? [ON_THE_MINUTE, ...fields] : fields
  const [second, minute, hour, dayOfMonth, month, dayOfWeek, year = EVERY_YEAR] = withSeconds
  if (!second || !minute || !hour || !dayOfMonth || !month || !dayOfWeek || fields.length > 7) {
    const position = fields[7]?.start ?? source.length
    const problem = `${fields.length} fields instead of five, six or seven`
    throw cronRefusal('CRON_FIELD_COUNT', problem, { text: source, position, allowed: FIELD_ORDER })
  }
  const seconds = readField(cronFields.second, second)
  const minutes = readField(cronFields.minute, minute)
  const hours = readField(cronFields.hour, hour)
  const monthDays = readField(cronFields.dayOfMonth, dayOfMonth)
  const months = readField(cronFields.month, month)
  const weekdays = readField(cronFields.dayOfWeek, dayOfWeek)
  const isEveryYear = startsWithStar(year) && isUnrestricted(year)
  const years = isEveryYear ? undefined : Object.freeze(readField(cronFields.year, year).masks)
  const times = timesOfDay(seconds, minutes, hours)
  return Object.freeze({
    source,
    secondsLow: maskAt(seconds, 0),
    secondsHigh: maskAt(seconds, 1),
    minutesLow: maskAt(minutes, 0),
    minutesHigh: maskAt(minutes, 1),
    hours: maskAt(hours, 0),
    daysOfMonth: maskAt(monthDays, 0) | (maskAt(monthDays, 1) << 30),
    months: maskAt(months, 0),
    weekdays: maskAt(weekdays, 0),
    dayRules: mergeRules(monthDays.dayRules, weekdays.dayRules),
    years,
    isEitherDay: !isUnrestricted(dayOfMonth) && !isUnrestricted(dayOfWeek),
    hasFixedTimes: !startsWithStar(second) && !startsWithStar(minute) && !startsWithStar(hour),
    firstSecondOfDay: times.first,
    lastSecondOfDay: times.last,
  })
}

const FIELD_ORDER = '[second] minute hour day-of-month month day-of-week [year]'

function maskAt(values: FieldValues, index: number): number {
  return values.masks[index] ?? 0
}

function timesOfDay(
  seconds: FieldValues,
  minutes: FieldValues,
  hours: FieldValues,
): { first: number; last: number } {
  const hourMask = maskAt(hours, 0)
  const [minuteLow, minuteHigh] = [maskAt(minutes, 0), maskAt(minutes, 1)]
  const [secondLow, secondHigh] = [maskAt(seconds, 0), maskAt(seconds, 1)]
  const first =
    nextBit(hourMask, 0) * 3600 +
    nextOfSixty(minuteLow, minuteHigh, 0) * 60 +
    nextOfSixty(secondLow, secondHigh, 0)
  const last =
    previousBit(hourMask, 23) * 3600 +
    previousOfSixty(minuteLow, minuteHigh, 59) * 60 +
    previousOfSixty(secondLow, secondHigh, 59)
  return { first, last }
}

/** Only these three texts leave a day field unrestricted; `1-31` or `*,5` restrict it, although to every day. */
function isUnrestricted({ text, start, end }: FieldText): boolean {
  if (end - start === 1) return text[start] === '*' || text[start] === '?'
  return end - start === 3 && text.startsWith('*/1', start)
}

function startsWithStar({ text, start }: FieldText): boolean {
  return text.charCodeAt(start) === 42
}

function mergeRules(ofMonth: DayRules | undefined, ofWeek: DayRules | undefined): DayRules | undefined {
  const either = ofMonth ?? ofWeek
  if (either === undefined) return undefined
  const { lastWeekdays, nthWeekdays } = ofWeek ?? either
  return Object.freeze({ ...either, lastWeekdays, nthWeekdays: Object.freeze(nthWeekdays) })
}
