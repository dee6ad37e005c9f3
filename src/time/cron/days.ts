import { monthLength, weekdayOf } from '../civil.js'
import { nextBit } from './bits.js'
import type { CronExpression, DayRules } from './expression.js'

const SATURDAY = 6
const SUNDAY = 0

/** The matching days of a month as a mask, bit d - 1 being day d; the month field is not checked. */
export function matchingDays(cron: CronExpression, monthIndex: number, firstDay: number): number {
  const length = monthLength(monthIndex)
  const firstWeekday = weekdayOf(firstDay)
  let byDate = cron.daysOfMonth
  let byWeekday = spreadWeekdays(cron.weekdays, firstWeekday)
  if (cron.dayRules !== undefined) {
    byDate |= datesByRule(cron.dayRules, length, firstWeekday)
    byWeekday |= weekdaysByRule(cron.dayRules, length, firstWeekday)
  }
  const days = cron.isEitherDay ? byDate | byWeekday : byDate & byWeekday
  return days & (0x7fff_ffff >>> (31 - length))
}

/** Repeats a mask of weekdays over a month that starts with `firstWeekday`. */
function spreadWeekdays(weekdays: number, firstWeekday: number): number {
  const week = ((weekdays | (weekdays << 7)) >>> firstWeekday) & 0x7f
  return week | (week << 7) | (week << 14) | (week << 21) | ((week & 7) << 28)
}

function datesByRule(rules: DayRules, length: number, firstWeekday: number): number {
  const { daysFromEnd, workdaysFromEnd, nearestWorkdays } = rules
  let days = 0
  for (const before of bitsBelow(daysFromEnd, length)) days |= 1 << (length - 1 - before)
  const nearest = (day: number): number => 1 << (nearestWorkday(day, length, firstWeekday) - 1)
  for (const before of bitsBelow(workdaysFromEnd, length)) days |= nearest(length - before)
  for (const index of bitsBelow(nearestWorkdays, length)) days |= nearest(index + 1)
  return days
}

/** The bits of a mask below `end`: a day that the month does not have is ignored. */
function bitsBelow(mask: number, end: number): number[] {
  const bits: number[] = []
  for (let bit = nextBit(mask, 0); bit >= 0 && bit < end; bit = nextBit(mask, bit + 1)) bits.push(bit)
  return bits
}

function nearestWorkday(day: number, length: number, firstWeekday: number): number {
  const weekday = (firstWeekday + day - 1) % 7
  if (weekday === SATURDAY) return day > 1 ? day - 1 : day + 2
  if (weekday === SUNDAY) return day < length ? day + 1 : day - 2
  return day
}

function weekdaysByRule(rules: DayRules, length: number, firstWeekday: number): number {
  const lastWeek = 0x7f << (length - 7)
  let days = spreadWeekdays(rules.lastWeekdays, firstWeekday) & lastWeek
  rules.nthWeekdays.forEach((weekdays, index) => {
    days |= spreadWeekdays(weekdays, firstWeekday) & (0x7f << (index * 7))
  })
  return days
}
