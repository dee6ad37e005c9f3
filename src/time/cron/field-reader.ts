import { TimeError, type TimeErrorCode } from '../time-error.js'
import type { DayRules } from './expression.js'
import type { CronField } from './field.js'

/** The values of a field as masks of thirty bits from its lowest value, and its day rules. */
export interface FieldValues {
  readonly masks: readonly number[]
  readonly dayRules: DayRules | undefined
}

/** The position of a field in the expression. */
export interface FieldText {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Reads one field: a list of values, names, ranges, steps and, in the day fields, rules. */
export function readField(field: CronField, where: FieldText): FieldValues {
  return new FieldReader(field, where).read()
}

type MutableDayRules = { -readonly [Key in keyof DayRules]: DayRules[Key] } & { nthWeekdays: number[] }

const COMMA = 44
const DASH = 45
const SLASH = 47
const STAR = 42
const HASH = 35
const QUESTION = 63

class FieldReader {
  readonly #field: CronField
  readonly #text: string
  readonly #start: number
  readonly #end: number
  #position: number
  readonly #masks: number[] = [0, 0]
  #dayRules: MutableDayRules | undefined

  constructor(field: CronField, where: FieldText) {
    this.#field = field
    this.#text = where.text
    this.#start = where.start
    this.#end = where.end
    this.#position = where.start
  }

  read(): FieldValues {
    this.#item()
    while (this.#take(COMMA)) this.#item()
    if (this.#position < this.#end) this.#failSyntax()
    return { masks: this.#masks, dayRules: this.#dayRules }
  }

  #item(): void {
    const start = this.#position
    if (this.#take(STAR)) {
      this.#add(this.#field.low, this.#field.high, this.#step())
    } else if (this.#peek() === QUESTION) {
      this.#questionMark()
    } else if (!this.#dayRuleOfMonth()) {
      const first = this.#value()
      if (!this.#dayRuleOfWeek(first)) this.#range(first, start)
    }
  }

  /** After a first value: `a`, `a-b`, `a-b/n` or `a/n`, the latter meaning from a to the field's end. */
  #range(first: number, start: number): void {
    if (this.#take(DASH)) {
      const last = this.#rangeEnd(first, start)
      this.#add(first, last, this.#step())
    } else if (this.#peek() === SLASH) {
      const from = this.#field.days === 'of-week' ? first % 7 : first
      this.#add(from, this.#field.high, this.#step())
    } else {
      this.#add(first, first, 1)
    }
  }

  #rangeEnd(first: number, start: number): number {
    const isName = !isDigit(this.#peek())
    const last = this.#value()
    // A week may end with Sunday: FRI-SUN is 5-7.
    if (isName && last === 0 && first > 0 && this.#field.days === 'of-week') return 7
    if (last < first) {
      const written = this.#text.slice(start, this.#position)
      const split = splitReversed(this.#field, first, last)
      throw this.#refusal('CRON_RANGE', `the range ${written} is reversed, write ${split}`, start, split)
    }
    return last
  }

  #step(): number {
    if (!this.#take(SLASH)) return 1
    const start = this.#position
    if (!isDigit(this.#peek())) this.#failSyntax('expected a number after /')
    const step = this.#number()
    const most = this.#field.high - this.#field.low + 1
    if (step >= 1 && step <= most) return step
    throw this.#refusal('CRON_RANGE', `the step ${step} is not within 1-${most}`, start, `1-${most}`)
  }

  #value(): number {
    const start = this.#position
    if (!isDigit(this.#peek())) return this.#named()
    const value = this.#number()
    const { low, high, name, days } = this.#field
    const most = days === 'of-week' ? 7 : high
    if (value >= low && value <= most) return value
    const hint = name === 'hour' && value === 24 ? ', midnight is hour 0' : ''
    const problem = `${name} ${value} is not within ${low}-${most}${hint}`
    throw this.#refusal('CRON_RANGE', problem, start, `${low}-${most}`)
  }

  #number(): number {
    let value = 0
    while (isDigit(this.#peek())) {
      // Beyond every limit anyway; the bound keeps many digits from becoming Infinity.
      value = Math.min(value * 10 + this.#peek() - 48, 999_999)
      this.#position += 1
    }
    return value
  }

  #named(): number {
    const { names, low, days } = this.#field
    // In other dialects a bare L means Saturday or the last day of the month: too ambiguous to guess.
    if (days === 'of-week' && this.#isLetter('L')) this.#failUnsupported('a weekday before L, such as 5L')
    const found = names?.indexOf(this.#text.slice(this.#position, this.#position + 3).toUpperCase()) ?? -1
    if (found < 0 || this.#position + 3 > this.#end) this.#failSyntax()
    this.#position += 3
    return low + found
  }

  /** Reads `L`, `L-3`, `LW`, `L-3W` or `15W`; returns whether there was one. */
  #dayRuleOfMonth(): boolean {
    if (this.#field.days !== 'of-month') return false
    if (this.#takeLetter('L')) {
      const bit = 1 << this.#daysBeforeLast()
      if (this.#takeLetter('W')) this.#rules().workdaysFromEnd |= bit
      else this.#rules().daysFromEnd |= bit
      return true
    }
    const start = this.#position
    while (isDigit(this.#peek())) this.#position += 1
    const isNearest = this.#position > start && this.#isLetter('W')
    this.#position = start
    if (!isNearest) return false
    this.#rules().nearestWorkdays |= 1 << (this.#value() - 1)
    this.#position += 1
    return true
  }

  /** After `L` in the day of month: the 3 of `-3`, or 0. */
  #daysBeforeLast(): number {
    if (!this.#take(DASH)) return 0
    const start = this.#position
    if (!isDigit(this.#peek())) this.#failSyntax('expected a number after L-')
    const days = this.#number()
    if (days >= 1 && days <= 30) return days
    throw this.#refusal('CRON_RANGE', `L-${days} is not within L-1 to L-30`, start, '1-30')
  }

  /** Reads `L`, `#L` or `#2` after a weekday; returns whether there was one. */
  #dayRuleOfWeek(weekday: number): boolean {
    if (this.#field.days !== 'of-week') return false
    const bit = 1 << (weekday % 7)
    const isNumbered = this.#take(HASH)
    if (this.#takeLetter('L')) {
      this.#rules().lastWeekdays |= bit
      return true
    }
    if (!isNumbered) return false
    const start = this.#position
    if (!isDigit(this.#peek())) this.#failSyntax('expected a number after #')
    const nth = this.#number()
    const { nthWeekdays } = this.#rules()
    const before = nthWeekdays[nth - 1]
    if (before === undefined) throw this.#refusal('CRON_RANGE', `#${nth} is not within 1-5`, start, '1-5')
    nthWeekdays[nth - 1] = before | bit
    return true
  }

  #questionMark(): void {
    if (this.#field.days === undefined) this.#failSyntax('? belongs to the day fields')
    if (this.#end - this.#start > 1) this.#failSyntax('? must be the whole field')
    this.#position += 1
    this.#add(this.#field.low, this.#field.high, 1)
  }

  #add(first: number, last: number, step: number): void {
    const { low, days } = this.#field
    for (let value = first; value <= last; value += step) {
      const index = (days === 'of-week' ? value % 7 : value) - low
      const mask = (index / 30) | 0
      this.#masks[mask] = (this.#masks[mask] ?? 0) | (1 << (index % 30))
    }
  }

  #rules(): MutableDayRules {
    this.#dayRules ??= {
      daysFromEnd: 0,
      workdaysFromEnd: 0,
      nearestWorkdays: 0,
      lastWeekdays: 0,
      nthWeekdays: [0, 0, 0, 0, 0],
    }
    return this.#dayRules
  }

  #peek(): number {
    return this.#position < this.#end ? this.#text.charCodeAt(this.#position) : -1
  }

  #take(code: number): boolean {
    if (this.#peek() !== code) return false
    this.#position += 1
    return true
  }

  #isLetter(upper: string): boolean {
    return (this.#peek() & ~32) === upper.charCodeAt(0)
  }

  #takeLetter(upper: string): boolean {
    if (!this.#isLetter(upper)) return false
    this.#position += 1
    return true
  }

  #failSyntax(problem = this.#unexpected()): never {
    throw this.#refusal('CRON_SYNTAX', problem, this.#position, allowedIn(this.#field))
  }

  #unexpected(): string {
    if (this.#position === this.#end) return `the ${this.#field.name} is incomplete`
    return `"${this.#text.charAt(this.#position)}" is unexpected in the ${this.#field.name}`
  }

  #failUnsupported(allowed: string): never {
    const problem = `this form is not supported in the ${this.#field.name}`
    throw this.#refusal('CRON_UNSUPPORTED', problem, this.#position, allowed)
  }

  #refusal(code: TimeErrorCode, problem: string, position: number, allowed: string): TimeError {
    return cronRefusal(code, problem, { text: this.#text, position, allowed })
  }
}

/** A refusal of an expression that names the place. */
export function cronRefusal(
  code: TimeErrorCode,
  problem: string,
  place: { readonly text: string; readonly position: number; readonly allowed: string },
): TimeError {
  const { text, position, allowed } = place
  return new TimeError(code, `"${text.slice(0, 80)}": ${problem}, at position ${position}`, {
    position,
    allowed,
  })
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function splitReversed(field: CronField, first: number, last: number): string {
  const span = (from: number, to: number): string => (from === to ? String(from) : `${from}-${to}`)
  if (field.days !== 'of-week') return `${span(first, field.high)},${span(field.low, last)}`
  if (first === 7) return span(0, last)
  return last === 0 ? span(first, 7) : `${span(first, 7)},${span(1, last)}`
}

function allowedIn(field: CronField): string {
  const names = field.names === undefined ? '' : `, ${field.names[0]}-${field.names.at(-1)}`
  const rules = { 'of-month': ', ?, L, L-3, LW, L-3W, 15W', 'of-week': ', ?, 5L, 5#2, 5#L' }
  const days = field.days === undefined ? '' : rules[field.days]
  return `${field.low}-${field.high}${names}, *, lists, ranges and steps${days}`
}
