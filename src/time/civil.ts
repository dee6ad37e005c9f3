/**
 * The proleptic Gregorian calendar as integer arithmetic: days are counted from 1970-01-01, months are counted
 * from January of year 0, so that iterating over months needs neither carries nor objects.
 */

/** Milliseconds of a second. */
export const SECOND_MS = 1000
/** Milliseconds of a minute. */
export const MINUTE_MS = 60 * SECOND_MS
/** Milliseconds of an hour. */
export const HOUR_MS = 60 * MINUTE_MS
/** Milliseconds of a day of 24 hours. */
export const DAY_MS = 24 * HOUR_MS

/** Days from 0000-03-01 to 1970-01-01; an era of 400 years that starts in March has its leap day at its end. */
const DAYS_TO_EPOCH = 719_468
const DAYS_PER_ERA = 146_097

/**
 * The month's index and the day within it, packed into one number (`index * 32 + day`) to avoid an object. Accepts
 * days from the year 0001 on: without negative numbers every division is an integer division, which is fast.
 */
export function packedDateOf(dayNumber: number): number {
  const shifted = (dayNumber + DAYS_TO_EPOCH) | 0
  const era = (shifted / DAYS_PER_ERA) | 0
  const dayOfEra = shifted - era * DAYS_PER_ERA
  const leapDays = ((dayOfEra / 1460) | 0) - ((dayOfEra / 36_524) | 0) + ((dayOfEra / 146_096) | 0)
  const yearOfEra = ((dayOfEra - leapDays) / 365) | 0
  const dayOfYear = dayOfEra - (365 * yearOfEra + (yearOfEra >> 2) - ((yearOfEra / 100) | 0))
  const monthFromMarch = ((5 * dayOfYear + 2) / 153) | 0
  const day = dayOfYear - (((153 * monthFromMarch + 2) / 5) | 0) + 1
  return ((era * 400 + yearOfEra) * 12 + monthFromMarch + 2) * 32 + day
}

/** The day number of the first day of a month. */
export function firstDayOf(monthIndex: number): number {
  const fromMarch = monthIndex - 2
  const year = Math.floor(fromMarch / 12)
  const monthFromMarch = fromMarch - year * 12
  const era = Math.floor(year / 400)
  const yearOfEra = year - era * 400
  const dayOfYear = ((153 * monthFromMarch + 2) / 5) | 0
  const dayOfEra = yearOfEra * 365 + (yearOfEra >> 2) - ((yearOfEra / 100) | 0) + dayOfYear
  return era * DAYS_PER_ERA + dayOfEra - DAYS_TO_EPOCH
}

/** The number of days in a month. */
export function monthLength(monthIndex: number): number {
  const month = monthIndex % 12
  if (month !== 1) return 30 + ((0b1010_1101_0101 >> month) & 1)
  const year = (monthIndex / 12) | 0
  return (year & 3) === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

/** The weekday of a day number, Sunday being 0. */
export function weekdayOf(dayNumber: number): number {
  return ((dayNumber % 7) + 11) % 7
}
