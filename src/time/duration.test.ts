import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { refusalOf } from '../../test/time/refusal.js'
import { formatDuration, MAX_DURATION_MS, parseDuration } from './duration.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe('parseDuration', () => {
  it.each<[text: string | number, ms: number]>([
    [0, 0],
    [1500, 1500],
    ['0s', 0],
    ['250ms', 250],
    ['90s', 90 * SECOND],
    ['15m', 15 * MINUTE],
    ['1h30m', 90 * MINUTE],
    ['1h 30m', 90 * MINUTE],
    ['2d', 2 * DAY],
    ['1w', 7 * DAY],
    ['1w2d3h4m5s6ms', 9 * DAY + 3 * HOUR + 4 * MINUTE + 5 * SECOND + 6],
    ['PT15M', 15 * MINUTE],
    ['P1DT2H', DAY + 2 * HOUR],
    ['P1W', 7 * DAY],
    ['PT0S', 0],
    ['PT1H30M10S', 90 * MINUTE + 10 * SECOND],
  ])('reads %j', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each<[text: string | number, position: number | undefined, message: RegExp]>([
    ['', 0, /missing/],
    ['5', 1, /unit is missing/],
    ['m', 0, /whole number/],
    ['1.5h', 1, /unit is missing/],
    ['-5m', 0, /whole number/],
    ['5x', 1, /x is not a unit/],
    ['5 minutes', undefined, /write 5m$/],
    ['1 hour 30 min', undefined, /write 1h30m$/],
    ['2hrs', undefined, /write 2h$/],
    ['5 parsecs', 1, /unit is missing/],
    ['5M', 1, /months and years/],
    ['3mo', 1, /months and years/],
    ['2y', 1, /months and years/],
    ['30m1h', 3, /out of order/],
    ['1h1h', 2, /repeated/],
    ['1h  30m', 3, /whole number/],
    ['1h ', 2, /unexpected text at the end/],
    [' 1h', 0, /whole number/],
    ['P', 1, /missing/],
    ['PT', 2, /missing/],
    ['P1DT', 4, /missing/],
    ['P1M', 2, /months and years/],
    ['P1Y', 2, /months and years/],
    ['P1H', 2, /H is not a unit/],
    ['PT1D', 3, /D is not a unit/],
    ['PT0.5S', 3, /unit is missing/],
    ['9999999999999999h', 15, /unit is missing/],
    ['99999999w', undefined, /36525 days/],
    [-1, undefined, /non-negative/],
    [1.5, undefined, /whole/],
    [Number.NaN, undefined, /whole/],
    [Infinity, undefined, /36525 days/],
  ])('refuses %j', (text, position, message) => {
    const error = refusalOf(() => parseDuration(text))
    expect([error.code, error.position]).toEqual(['DURATION_INVALID', position])
    expect(error.message).toMatch(message)
  })
})

describe('formatDuration', () => {
  it.each<[ms: number, text: string]>([
    [0, '0s'],
    [250, '250ms'],
    [90 * SECOND, '1m30s'],
    [90 * MINUTE, '1h30m'],
    [14 * DAY, '2w'],
    [8 * DAY, '8d'],
    [DAY + 1, '1d1ms'],
  ])('writes %i ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })

  it('parses back to the same duration', () => {
    const anyDuration = fc.oneof(
      fc.integer({ min: 0, max: MAX_DURATION_MS }),
      fc.nat(200).map((n) => n * MINUTE),
    )
    fc.assert(fc.property(anyDuration, (ms) => parseDuration(formatDuration(ms)) === ms))
  })

  it('refuses values that are not durations', () => {
    expect(refusalOf(() => formatDuration(-1)).code).toBe('DURATION_INVALID')
  })
})
