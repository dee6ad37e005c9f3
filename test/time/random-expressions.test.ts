import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cronSchedule } from '../../src/time/cron/schedule.js'
import type { DstPolicy } from '../../src/time/cron/dst.js'
import { zoneOf } from '../../src/time/zone.js'
import { anyDayExpression, anyExpression } from './expressions.js'
import { expand, fieldsOf, localTimeOf, matches, occurrencesIn, walk } from './oracle.js'
import { seed } from './seed.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const policies: readonly DstPolicy[] = ['vixie', 'skip', 'real-time']
const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago',
  'Asia/Beirut',
  'Asia/Bangkok',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Antarctica/Troll',
  'Pacific/Apia',
]
const anyZone = fc.constantFrom(...zones)
const anyPolicy = fc.constantFrom(...policies)
const anyInstant = fc
  .integer({ min: Date.UTC(2000) / 1000, max: Date.UTC(2099) / 1000 })
  .map((second) => second * 1000)

describe(`random expressions (seed ${seed})`, () => {
  it('fire on the days the oracle finds by walking six years of days', () => {
    const law = fc.property(anyDayExpression(), fc.integer({ min: 1970, max: 2093 }), (expression, year) => {
      const parts = expand(expression)
      const schedule = cronSchedule(expression, { timezone: 'UTC' })
      const [from, to] = [Date.UTC(year), Date.UTC(year + 6)]
      const expected: number[] = []
      for (let at = from; at < to; at += DAY) if (matches(parts, fieldsOf(at))) expected.push(at)
      expect(forward(schedule, from - 1, to)).toEqual(expected)
      expect(backward(schedule, from - 1, to)).toEqual(expected)
    })
    fc.assert(law, { seed, numRuns: 100 })
  })

  it('fire around a clock change where the oracle finds them by walking seconds', () => {
    const law = fc.property(
      anyExpression(),
      anyZone,
      anyPolicy,
      anyInstant,
      (expression, zone, policy, instant) => {
        const change = zoneOf(zone).nextTransition(instant)?.at ?? instant
        // The oracle has to see both passes of a repeated hour, and Troll's clocks go back by two hours.
        const backMs = Math.max(0, localTimeOf(zone, change - 1000) + 1000 - localTimeOf(zone, change))
        const window = { from: change - 80 * 60_000 - backMs, to: change + 80 * 60_000, stepMs: 1000 }
        const expected = occurrencesIn(expression, walk(zone, window), policy, 1000)
        const schedule = cronSchedule(expression, { timezone: zone, dst: policy })
        expect(forward(schedule, window.from - 1, window.to)).toEqual(expected)
        expect(backward(schedule, window.from - 1, window.to)).toEqual(expected)
      },
    )
    fc.assert(law, { seed, numRuns: 60 })
  })

  it('return strictly later instants, on whole seconds, with matching fields or at the end of a gap', () => {
    const law = fc.property(
      anyExpression(),
      anyZone,
      anyPolicy,
      anyInstant,
      (expression, zone, policy, instant) => {
        const schedule = cronSchedule(expression, { timezone: zone, dst: policy })
        const at = schedule.next(instant)
        if (at === undefined) return
        expect(at).toBeGreaterThan(instant)
        expect(at % 1000).toBe(0)
        const isMatch = matches(expand(expression), fieldsOf(localTimeOf(zone, at)))
        const isAfterJump = localTimeOf(zone, at) - localTimeOf(zone, at - 1000) > 1000
        expect(isMatch || isAfterJump).toBe(true)
      },
    )
    fc.assert(law, { seed, numRuns: 3000 })
  })

  it('return the same next instant from anywhere between two of them', () => {
    const law = fc.property(
      anyExpression(),
      anyZone,
      anyPolicy,
      anyInstant,
      (expression, zone, policy, instant) => {
        const schedule = cronSchedule(expression, { timezone: zone, dst: policy })
        const change = zoneOf(zone).nextTransition(instant)?.at ?? instant
        let at = schedule.next(change - 2 * HOUR)
        for (let count = 0; count < 20 && at !== undefined; count += 1) {
          const following = schedule.next(at)
          if (following === undefined) break
          const middle = Math.floor((at + following) / 2)
          expect(schedule.next(middle)).toBe(middle < following ? following : schedule.next(following))
          expect(schedule.next(following - 1)).toBe(following)
          expect(schedule.previous(following)).toBe(at)
          expect(schedule.previous(at + 1)).toBe(at)
          expect(schedule.previous(middle + 1)).toBe(at)
          at = following
        }
      },
    )
    fc.assert(law, { seed, numRuns: 1000 })
  })

  it('find quickly that nothing is due, whatever the expression', () => {
    const years = fc.constantFrom('1970', '1999', '2024')
    const law = fc.property(anyDayExpression(), years, anyZone, (expression, year, zone) => {
      const withSeconds = expression.startsWith('0 0 0') ? expression : `0 ${expression}`
      const schedule = cronSchedule(`${withSeconds} ${year}`, { timezone: zone })
      expect(schedule.next(Date.UTC(2025, 0, 2))).toBeUndefined()
      expect(schedule.previous(Date.UTC(1969))).toBeUndefined()
    })
    fc.assert(law, { seed, numRuns: 500 })
  })
})

interface Walker {
  next(after: number): number | undefined
  previous(before: number): number | undefined
}

function forward(schedule: Walker, after: number, before: number): number[] {
  const found: number[] = []
  for (let at = schedule.next(after); at !== undefined && at < before; at = schedule.next(at)) found.push(at)
  return found
}

function backward(schedule: Walker, after: number, before: number): number[] {
  const found: number[] = []
  for (let at = schedule.previous(before); at !== undefined && at > after; at = schedule.previous(at))
    found.push(at)
  return found.toReversed()
}
