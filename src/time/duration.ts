import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './civil.js'
import { TimeError } from './time-error.js'

/** The longest accepted duration: a hundred Julian years. */
export const MAX_DURATION_MS = 36_525 * DAY_MS

const ALLOWED =
  'whole numbers with units in descending order (w d h m s ms), such as 90s or 1h30m, or ISO 8601 such as PT15M'

interface Unit {
  readonly name: string
  readonly ms: number
}

const UNITS: readonly Unit[] = [
  { name: 'w', ms: 7 * DAY_MS },
  { name: 'd', ms: DAY_MS },
  { name: 'h', ms: HOUR_MS },
  { name: 'm', ms: MINUTE_MS },
  { name: 's', ms: SECOND_MS },
  { name: 'ms', ms: 1 },
]
const ISO_DATE_UNITS: readonly Unit[] = [
  { name: 'W', ms: 7 * DAY_MS },
  { name: 'D', ms: DAY_MS },
]
const ISO_TIME_UNITS: readonly Unit[] = [
  { name: 'H', ms: HOUR_MS },
  { name: 'M', ms: MINUTE_MS },
  { name: 'S', ms: SECOND_MS },
]

/** Parses a duration to milliseconds: a number is milliseconds already, a text must have units. */
export function parseDuration(input: string | number): number {
  if (typeof input === 'number') return assertDuration(input, String(input))
  if (typeof input !== 'string') throw refusal(String(input), 'a text or a number was expected')
  const meant = shortForm(input)
  if (meant !== undefined) throw refusal(input, `units are letters here, write ${meant}`)
  return assertDuration(input.startsWith('P') ? parseIso(input) : parseUnits(input, UNITS, 0), input)
}

/** The short form of a duration in words such as `5 minutes`; undefined for anything else. */
function shortForm(text: string): string | undefined {
  if (text.length > 60 || !/^(?:\d{1,15} ?[a-z]+,? ?)+$/i.test(text)) return undefined
  const parts = [...text.matchAll(/(\d+) ?([a-z]+)/gi)].map(([, digits = '', word = '']) => ({
    digits,
    word: word.toLowerCase(),
  }))
  const units = parts.map(({ word }) => WORDS.get(word.replace(/s$/, '')) ?? WORDS.get(word))
  if (units.includes(undefined) || !parts.some(({ word }) => word.length > 2)) return undefined
  return parts.map(({ digits }, index) => `${digits}${units[index]}`).join('')
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ['week', 'w'],
  ['day', 'd'],
  ['hour', 'h'],
  ['hr', 'h'],
  ['minute', 'm'],
  ['min', 'm'],
  ['second', 's'],
  ['sec', 's'],
  ['millisecond', 'ms'],
  ['msec', 'ms'],
])

/** Formats a duration in descending units without zeros (`1h30m`, `8d`, `0s`), which `parseDuration` accepts. */
export function formatDuration(ms: number): string {
  let rest = assertDuration(ms, String(ms))
  if (rest === 0) return '0s'
  let text = ''
  for (const unit of UNITS) {
    // Eight days read better than one week and one day.
    if (unit.name === 'w' && rest % unit.ms !== 0) continue
    const count = Math.floor(rest / unit.ms)
    if (count > 0) text += `${count}${unit.name}`
    rest -= count * unit.ms
  }
  return text
}

function parseIso(text: string): number {
  const timeAt = text.indexOf('T')
  const datePart = timeAt < 0 ? text.slice(1) : text.slice(1, timeAt)
  if (timeAt < 0) return parseUnits(datePart, ISO_DATE_UNITS, 1, text)
  const dateMs = datePart === '' ? 0 : parseUnits(datePart, ISO_DATE_UNITS, 1, text)
  return dateMs + parseUnits(text.slice(timeAt + 1), ISO_TIME_UNITS, timeAt + 1, text)
}

const PART = /(\d{1,15})([A-Za-z]*) ?/y

function parseUnits(part: string, units: readonly Unit[], startsAt: number, whole = part): number {
  if (part === '') throw refusal(whole, 'a number with a unit is missing', startsAt)
  const pattern = new RegExp(PART)
  let total = 0
  let smallest = -1
  while (pattern.lastIndex < part.length) {
    const position = startsAt + pattern.lastIndex
    const [matched, digits = '', name = ''] = pattern.exec(part) ?? []
    if (matched === undefined) throw refusal(whole, 'expected a whole number with a unit', position)
    const index = units.findIndex((unit) => unit.name === name)
    const unit = units[index]
    if (unit === undefined) throw refusal(whole, unknownUnit(name, units), position + digits.length)
    if (index <= smallest) throw refusal(whole, `the unit ${name} is repeated or out of order`, position)
    smallest = index
    total += Number(digits) * unit.ms
  }
  if (part.endsWith(' ')) throw refusal(whole, 'unexpected text at the end', startsAt + part.length - 1)
  return total
}

function unknownUnit(name: string, units: readonly Unit[]): string {
  if (name === '') return `a unit is missing (${units.map((unit) => unit.name).join(' ')})`
  if (/^(M|Y|mo|y|month|year)s?$/i.test(name) && name !== 'm') return 'months and years have no fixed length'
  return `${name} is not a unit here`
}

function assertDuration(ms: number, input: string): number {
  if (ms > MAX_DURATION_MS) throw refusal(input, 'longer than 36525 days')
  if (!Number.isInteger(ms) || ms < 0) {
    throw refusal(input, 'not a whole, non-negative number of milliseconds')
  }
  return ms
}

function refusal(input: string, problem: string, position?: number): TimeError {
  const where = position === undefined ? '' : `, at position ${position}`
  return new TimeError('DURATION_INVALID', `"${input.slice(0, 60)}": ${problem}${where}`, {
    position,
    allowed: ALLOWED,
  })
}
