import { describe, expect, it } from 'vitest'
import { DAY_MS, firstDayOf, monthLength, packedDateOf, weekdayOf } from './civil.js'

describe('the calendar', () => {
  it('agrees with Date on every day from 1900 to 2200', () => {
    for (let day = Date.UTC(1900) / DAY_MS; day < Date.UTC(2201) / DAY_MS; day += 1) {
      const date = new Date(day * DAY_MS)
      const monthIndex = date.getUTCFullYear() * 12 + date.getUTCMonth()
      const packed = packedDateOf(day)
      if (packed !== monthIndex * 32 + date.getUTCDate() || weekdayOf(day) !== date.getUTCDay()) {
        expect({ day, packed, weekday: weekdayOf(day) }).toEqual(date)
      }
    }
  })

  it('agrees with Date on every month from 0000 to 9999', () => {
    for (let monthIndex = 0; monthIndex < 120_000; monthIndex += 1) {
      const first = new Date(0).setUTCFullYear(Math.floor(monthIndex / 12), monthIndex % 12, 1) / DAY_MS
      const following =
        new Date(0).setUTCFullYear(Math.floor(monthIndex / 12), (monthIndex % 12) + 1, 1) / DAY_MS
      if (firstDayOf(monthIndex) !== first || monthLength(monthIndex) !== following - first) {
        expect({ monthIndex, first: firstDayOf(monthIndex), length: monthLength(monthIndex) }).toEqual({})
      }
    }
  })
})
