import { monthLength } from '../../../time/civil.js'

/** The first date of the calendar that is written as `YYYY-MM-DD` in a text; an impossible one is passed over. */
export function dateInText(text: string): string | undefined {
  for (const [date, year, month, day] of text.matchAll(datePattern))
    if (isReal(Number(year), Number(month), Number(day))) return date
  return undefined
}

/** Eight digits that are part of a longer number are no date. */
const datePattern = /(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)/g

function isReal(year: number, month: number, day: number): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= monthLength(year * 12 + month - 1)
}
