import { DAY_MS, firstDayOf, packedDateOf, SECOND_MS } from '../civil.js'
import { hasOfSixty, nextBit, nextOfSixty, previousBit, previousOfSixty } from './bits.js'
import { matchingDays } from './days.js'
import type { CronExpression } from './expression.js'
import { FIRST_YEAR } from './field.js'

/** The calendar's last month is December 2199; a zone west of UTC starts it in December 1969. */
const FIRST_MONTH = (FIRST_YEAR - 1) * 12 + 11
const LAST_MONTH = 2200 * 12

/** The first local time from `localMs` on whose fields match, or Infinity; whole seconds in, whole seconds out. */
export function nextMatch(cron: CronExpression, localMs: number): number {
  const day = Math.floor(localMs / DAY_MS) | 0
  const packed = packedDateOf(day)
  let monthIndex = packed >> 5
  const dayIndex = (packed & 31) - 1
  let firstDay = day - dayIndex
  if (monthMatches(cron, monthIndex)) {
    const days = matchingDays(cron, monthIndex, firstDay)
    if ((days >>> dayIndex) & 1) {
      const second = nextSecondOfDay(cron, ((localMs - day * DAY_MS) / SECOND_MS) | 0)
      if (second >= 0) return day * DAY_MS + second * SECOND_MS
    }
    const later = nextBit(days, dayIndex + 1)
    if (later >= 0) return (firstDay + later) * DAY_MS + cron.firstSecondOfDay * SECOND_MS
  }
  for (;;) {
    monthIndex = nextMonth(cron, monthIndex)
    if (monthIndex > LAST_MONTH) return Infinity
    if (!yearMatches(cron, monthIndex)) continue
    firstDay = firstDayOf(monthIndex)
    const first = nextBit(matchingDays(cron, monthIndex, firstDay), 0)
    if (first >= 0) return (firstDay + first) * DAY_MS + cron.firstSecondOfDay * SECOND_MS
  }
}

/** The last local time up to `localMs` whose fields match, or -Infinity; whole seconds in, whole seconds out. */
export function previousMatch(cron: CronExpression, localMs: number): number {
  const day = Math.floor(localMs / DAY_MS) | 0
  const packed = packedDateOf(day)
  let monthIndex = packed >> 5
  const dayIndex = (packed & 31) - 1
  let firstDay = day - dayIndex
  if (monthMatches(cron, monthIndex)) {
    const days = matchingDays(cron, monthIndex, firstDay)
    if ((days >>> dayIndex) & 1) {
      const second = previousSecondOfDay(cron, ((localMs - day * DAY_MS) / SECOND_MS) | 0)
      if (second >= 0) return day * DAY_MS + second * SECOND_MS
    }
    const earlier = previousBit(days, dayIndex - 1)
    if (earlier >= 0) return (firstDay + earlier) * DAY_MS + cron.lastSecondOfDay * SECOND_MS
  }
  for (;;) {
    monthIndex = previousMonth(cron, monthIndex)
    if (monthIndex < FIRST_MONTH) return -Infinity
    if (!yearMatches(cron, monthIndex)) continue
    firstDay = firstDayOf(monthIndex)
    const last = previousBit(matchingDays(cron, monthIndex, firstDay), 30)
    if (last >= 0) return (firstDay + last) * DAY_MS + cron.lastSecondOfDay * SECOND_MS
  }
}

function monthMatches(cron: CronExpression, monthIndex: number): boolean {
  return ((cron.months >>> (monthIndex % 12)) & 1) === 1 && yearMatches(cron, monthIndex)
}

function yearMatches(cron: CronExpression, monthIndex: number): boolean {
  if (cron.years === undefined) return true
  const year = ((monthIndex / 12) | 0) - FIRST_YEAR
  return year >= 0 && (((cron.years[(year / 30) | 0] ?? 0) >>> (year % 30)) & 1) === 1
}

/** The index of the next month that the month field names. */
function nextMonth(cron: CronExpression, monthIndex: number): number {
  const month = monthIndex % 12
  const found = nextBit(cron.months, month + 1)
  return monthIndex - month + (found >= 0 ? found : 12 + nextBit(cron.months, 0))
}

/** The index of the previous month that the month field names. */
function previousMonth(cron: CronExpression, monthIndex: number): number {
  const month = monthIndex % 12
  const found = previousBit(cron.months, month - 1)
  return monthIndex - month + (found >= 0 ? found : previousBit(cron.months, 11) - 12)
}

/** The first matching time of day from `second` on, or -1. */
function nextSecondOfDay(cron: CronExpression, second: number): number {
  const hour = (second / 3600) | 0
  if ((cron.hours >>> hour) & 1) {
    const minute = ((second - hour * 3600) / 60) | 0
    if (hasOfSixty(cron.minutesLow, cron.minutesHigh, minute)) {
      const start = hour * 3600 + minute * 60
      const found = nextOfSixty(cron.secondsLow, cron.secondsHigh, second - start)
      if (found >= 0) return start + found
    }
    const found = nextOfSixty(cron.minutesLow, cron.minutesHigh, minute + 1)
    if (found >= 0) return hour * 3600 + found * 60 + (cron.firstSecondOfDay % 60)
  }
  const found = nextBit(cron.hours, hour + 1)
  return found < 0 ? -1 : found * 3600 + (cron.firstSecondOfDay % 3600)
}

/** The last matching time of day up to `second`, or -1. */
function previousSecondOfDay(cron: CronExpression, second: number): number {
  const hour = (second / 3600) | 0
  if ((cron.hours >>> hour) & 1) {
    const minute = ((second - hour * 3600) / 60) | 0
    if (hasOfSixty(cron.minutesLow, cron.minutesHigh, minute)) {
      const start = hour * 3600 + minute * 60
      const found = previousOfSixty(cron.secondsLow, cron.secondsHigh, second - start)
      if (found >= 0) return start + found
    }
    const found = previousOfSixty(cron.minutesLow, cron.minutesHigh, minute - 1)
    if (found >= 0) return hour * 3600 + found * 60 + (cron.lastSecondOfDay % 60)
  }
  const found = previousBit(cron.hours, hour - 1)
  return found < 0 ? -1 : found * 3600 + (cron.lastSecondOfDay % 3600)
}
