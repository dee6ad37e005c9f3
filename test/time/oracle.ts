/**
 * A slow second opinion on cron: it walks time step by step, asks Intl for the local fields of every step and
 * compares them with plainly expanded sets. It shares no code with the engine and knows no shortcuts.
 */

export type Policy = 'vixie' | 'skip' | 'real-time'

/** The local calendar fields of one instant; weekday 0 is Sunday. */
export interface Fields {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly weekday: number
  readonly hour: number
  readonly minute: number
  readonly second: number
}

/** One step of a walk: the instant, its local fields, and the local time as a number to compare. */
export interface Step {
  readonly at: number
  readonly fields: Fields
  readonly local: number
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** The local time of an instant, in milliseconds as if it were UTC. */
export function localTimeOf(zone: string, at: number): number {
  let format = formats.get(zone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formats.set(zone, format)
  }
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = (
    format.format(at).match(/\d+/g) ?? []
  ).map(Number)
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

export function fieldsOf(local: number): Fields {
  const date = new Date(local)
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  }
}

/** Every step of a window with its local fields. */
export function walk(zone: string, window: { from: number; to: number; stepMs: number }): Step[] {
  const steps: Step[] = []
  for (let at = window.from; at < window.to; at += window.stepMs) {
    const local = localTimeOf(zone, at)
    steps.push({ at, local, fields: fieldsOf(local) })
  }
  return steps
}

/** Instants at which the offset changes, found by comparing neighbours twelve hours apart and then seconds. */
export function transitionsBetween(zone: string, from: number, to: number): number[] {
  const offset = (at: number): number => localTimeOf(zone, at) - at
  const found: number[] = []
  const stride = 43_200_000
  let before = offset(from)
  for (let at = from; at < to; at += stride) {
    const after = offset(at + stride)
    if (after === before) continue
    before = after
    let low = at
    let high = at + stride
    while (high - low > 1000) {
      const middle = Math.floor((low + high) / 2000) * 1000
      if (offset(middle) === offset(low)) low = middle
      else high = middle
    }
    found.push(high)
  }
  return found
}

/** The occurrences of an expression among the steps of a walk, which must start before any overlap does. */
export function occurrencesIn(
  expression: string,
  steps: readonly Step[],
  policy: Policy,
  stepMs: number,
): number[] {
  const parts = expand(expression)
  const times = parts.isSixOrSeven ? parts.texts.slice(0, 3) : parts.texts.slice(1, 3)
  const isFixed = times.every((text) => !text.startsWith('*'))
  const seen = new Set<number>()
  const found: number[] = []
  steps.forEach((step, index) => {
    const before = steps[index - 1]
    const isRepeat = seen.has(step.local)
    seen.add(step.local)
    const isLeftOut = isRepeat && isFixed && policy !== 'real-time'
    if (
      (matches(parts, step.fields) && !isLeftOut) ||
      isCaughtUp(parts, before, step, { policy, isFixed, stepMs })
    ) {
      found.push(step.at)
    }
  })
  return found
}

function isCaughtUp(
  parts: Expanded,
  before: Step | undefined,
  step: Step,
  how: { policy: Policy; isFixed: boolean; stepMs: number },
): boolean {
  if (before === undefined || how.policy !== 'vixie' || !how.isFixed) return false
  const jump = step.local - before.local - how.stepMs
  if (jump <= 0 || jump > 3 * 3_600_000) return false
  for (let local = before.local + how.stepMs; local < step.local; local += how.stepMs) {
    if (matches(parts, fieldsOf(local))) return true
  }
  return false
}

interface Expanded {
  readonly texts: readonly string[]
  readonly isSixOrSeven: boolean
  readonly sets: readonly Set<number>[]
}

const LIMITS: readonly (readonly [number, number])[] = [
  [0, 59],
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
  [1970, 2199],
]
const NAMES = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ')
const WEEKDAY_RULE = /^(\d|[A-Z]{3})(L|#\d|#L)$/
const DAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ')

/** Expands an expression that is known to be good into sets of numbers. */
export function expand(expression: string): Expanded {
  const given = expression.trim().toUpperCase().split(/\s+/)
  const texts = given.length === 5 ? ['0', ...given] : given
  if (texts.length === 6) texts.push('*')
  const sets = texts.map((text, index) => {
    const values = new Set<number>()
    for (const item of text.split(',')) for (const value of expandItem(item, index)) values.add(value)
    return values
  })
  return { texts, isSixOrSeven: given.length > 5, sets }
}

function expandItem(item: string, index: number): number[] {
  const [low, high] = LIMITS[index] ?? [0, 0]
  const [range = '', stepText] = item.split('/')
  if (range === '?') return all(low, high)
  if (index === 3 && /[LW]/.test(range)) return []
  if (index === 5 && WEEKDAY_RULE.test(range)) return []
  const [firstText = '', lastText] = range.split('-')
  let first = range === '*' ? low : numberOf(firstText, index)
  let last = range === '*' ? high : lastText === undefined ? first : numberOf(lastText, index)
  if (index === 5 && lastText === 'SUN' && first > 0) last = 7
  if (stepText !== undefined && lastText === undefined && range !== '*') last = high
  if (index === 5 && range === '*') last = 6
  if (index === 5 && stepText !== undefined && lastText === undefined) {
    last = 6
    first %= 7
  }
  return all(first, last).filter((value) => (value - first) % Number(stepText ?? 1) === 0)
}

function all(low: number, high: number): number[] {
  return Array.from({ length: high - low + 1 }, (_, index) => low + index)
}

function numberOf(text: string, index: number): number {
  if (index === 4 && NAMES.includes(text)) return NAMES.indexOf(text) + 1
  if (index === 5 && DAYS.includes(text)) return DAYS.indexOf(text)
  return Number(text)
}

/** Whether local fields satisfy an expanded expression. */
export function matches(parts: Expanded, fields: Fields): boolean {
  const [second, minute, hour, , month, , year] = parts.sets
  if (!second?.has(fields.second) || !minute?.has(fields.minute) || !hour?.has(fields.hour)) return false
  if (!month?.has(fields.month) || !year?.has(fields.year)) return false
  const [dateText = '', weekdayText = ''] = [parts.texts[3], parts.texts[5]]
  const isOpen = (text: string): boolean => text === '*' || text === '?' || text === '*/1'
  const byDate = matchesDate(parts, dateText, fields)
  const byWeekday = matchesWeekday(parts, weekdayText, fields)
  if (isOpen(dateText)) return isOpen(weekdayText) || byWeekday
  return isOpen(weekdayText) ? byDate : byDate || byWeekday
}

function matchesDate(parts: Expanded, text: string, { year, month, day }: Fields): boolean {
  if (parts.sets[3]?.has(day)) return true
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate()
  const isWorkday = (date: number): boolean =>
    ![0, 6].includes(new Date(Date.UTC(year, month - 1, date)).getUTCDay())
  return text.split(',').some((item) => {
    if (item === 'LW') return day === all(1, last).filter(isWorkday).at(-1)
    const [, isFromEnd, before, date, isNearest] = /^(?:(L)(?:-(\d+))?|(\d+))(W?)$/.exec(item) ?? []
    if (isFromEnd === undefined && !isNearest) return false
    const wanted = isFromEnd === undefined ? Number(date) : last - Number(before ?? 0)
    if (wanted < 1 || wanted > last) return false
    if (!isNearest) return day === wanted
    const nearest = all(1, last)
      .filter(isWorkday)
      .toSorted((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted))[0]
    return day === nearest
  })
}

function matchesWeekday(parts: Expanded, text: string, { year, month, day, weekday }: Fields): boolean {
  const set = parts.sets[5]
  if (set?.has(weekday) || (weekday === 0 && set?.has(7))) return true
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate()
  return text.split(',').some((item) => {
    const [, name, rule] = WEEKDAY_RULE.exec(item) ?? []
    if (name === undefined || rule === undefined || numberOf(name, 5) % 7 !== weekday) return false
    return rule.endsWith('L') ? day + 7 > last : Math.ceil(day / 7) === Number(rule.slice(1))
  })
}
