import { monthLength } from '../../../time/civil.js'

/** The first valid date in the form `YYYY-MM-DD` in a text; impossible dates are skipped. */
export function dateInText(text: string): string | undefined {
  for (const [date, year, month, day] of text.matchAll(datePattern))
    if (isReal(Number(year), Number(month), Number(day))) return date
  return undefined
}

/** Digits that are part of a longer number are not a date. */
const datePattern = /(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)/g

function isReal(year: number, month: number, day: number): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= monthLength(year * 12 + month - 1)
}
