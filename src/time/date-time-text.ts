import { DAY_MS, firstDayOf, HOUR_MS, MINUTE_MS, monthLength, SECOND_MS } from './civil.js'
import { TimeError, type TimeErrorCode } from './time-error.js'

/** A parsed date and time: its civil time as if it were UTC, and its offset if it has one. */
export interface DateTimeText {
  readonly localMs: number
  readonly offsetMs: number | undefined
}

/** Which parts a text must or may have, and how its errors are labelled. */
export interface DateTimeRules {
  readonly code: TimeErrorCode
  readonly allowed: string
  readonly isOffsetRequired: boolean
  readonly isSecondRequired: boolean
  readonly isFractionAllowed: boolean
}

/** Reads `YYYY-MM-DDTHH:MM[:SS[.fraction]][Z|±HH:MM[:SS]]` and throws for dates that do not exist. */
export function readDateTime(text: string, rules: DateTimeRules): DateTimeText {
  if (typeof text !== 'string') {
    throw new TimeError(rules.code, `A text was expected, not ${typeof text}`, { allowed: rules.allowed })
  }
  const reader = new Reader(text, rules)
  const date = reader.date()
  reader.one('Tt ', 'T or a space between date and time')
  const time = reader.time()
  const offsetMs = reader.offset()
  reader.end()
  return { localMs: date + time, offsetMs }
}

const LONGEST_SHOWN = 60

class Reader {
  readonly #text: string
  readonly #rules: DateTimeRules
  #position = 0

  constructor(text: string, rules: DateTimeRules) {
    this.#rules = rules
    this.#text = text
  }

  date(): number {
    const year = this.#digits(4, 0, 9999, 'year')
    this.one('-', '- after the year')
    const month = this.#digits(2, 1, 12, 'month')
    this.one('-', '- after the month')
    const monthIndex = year * 12 + month - 1
    const day = this.#digits(2, 1, monthLength(monthIndex), 'day')
    return (firstDayOf(monthIndex) + day - 1) * DAY_MS
  }

  time(): number {
    const hour = this.#digits(2, 0, 23, 'hour')
    this.one(':', ': after the hour')
    const minute = this.#digits(2, 0, 59, 'minute')
    let ms = hour * HOUR_MS + minute * MINUTE_MS
    if (this.#rules.isSecondRequired || this.#sees(':')) {
      this.one(':', ': and seconds after the minute')
      ms += this.#digits(2, 0, 59, 'second') * SECOND_MS + this.#fraction()
    }
    return ms
  }

  offset(): number | undefined {
    if (this.#position === this.#text.length && !this.#rules.isOffsetRequired) return undefined
    const sign = this.one('Zz+-', 'Z or an offset such as +07:00 after the time')
    if (sign === 'Z' || sign === 'z') return 0
    const hour = this.#digits(2, 0, 23, 'offset hour')
    this.one(':', ': after the offset hour')
    let ms = hour * HOUR_MS + this.#digits(2, 0, 59, 'offset minute') * MINUTE_MS
    if (this.#sees(':')) {
      this.#position += 1
      ms += this.#digits(2, 0, 59, 'offset second') * SECOND_MS
    }
    // With -0 a sum would stay right, but a comparison of the parsed offset would not.
    return sign === '-' && ms !== 0 ? -ms : ms
  }

  end(): void {
    if (this.#position < this.#text.length) this.#fail('unexpected text at the end', this.#position)
  }

  one(choices: string, expected: string): string {
    const found = this.#text.charAt(this.#position)
    if (found === '' || !choices.includes(found)) this.#fail(`expected ${expected}`, this.#position)
    this.#position += 1
    return found
  }

  #sees(character: string): boolean {
    return this.#text.charAt(this.#position) === character
  }

  #digits(count: number, low: number, high: number, what: string): number {
    const start = this.#position
    let value = 0
    for (; this.#position < start + count; this.#position += 1) {
      const digit = this.#digitHere()
      if (digit === undefined) this.#fail(`expected ${count} digits for the ${what}`, this.#position)
      value = value * 10 + digit
    }
    if (value < low || value > high) this.#fail(`${what} ${value} is not within ${low} to ${high}`, start)
    return value
  }

  #fraction(): number {
    if (!this.#sees('.')) return 0
    if (!this.#rules.isFractionAllowed) this.#fail('fractions of a second are not accepted', this.#position)
    const start = ++this.#position
    let ms = 0
    for (let weight = 100; this.#digitHere() !== undefined; weight /= 10) {
      if (weight >= 1) ms += weight * (this.#digitHere() ?? 0)
      this.#position += 1
    }
    const length = this.#position - start
    if (length < 1 || length > 9) this.#fail('expected one to nine digits for the fraction', start)
    return ms
  }

  #digitHere(): number | undefined {
    const digit = this.#text.charCodeAt(this.#position) - 48
    return digit >= 0 && digit <= 9 ? digit : undefined
  }

  #fail(problem: string, position: number): never {
    const shown = this.#text.slice(0, LONGEST_SHOWN)
    const { code, allowed } = this.#rules
    throw new TimeError(code, `"${shown}": ${problem}, at position ${position}`, { position, allowed })
  }
}
