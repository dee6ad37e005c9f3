import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { intervalSchedule } from './interval.js'

describe('an interval', () => {
  it.each<[after: number, immediate: boolean, next: number]>([
    [-5000, false, 1100],
    [99, false, 1100],
    [100, false, 1100],
    [1099, false, 1100],
    [1100, false, 2100],
    [99, true, 100],
    [-5000, true, 100],
    [100, true, 1100],
  ])('every 1000 ms from 100, after %i (immediate: %s), is due at %i', (after, immediate, next) => {
    expect(intervalSchedule({ everyMs: 1000, anchorAt: 100, immediate }).next(after)).toBe(next)
  })

  it.each<[before: number, immediate: boolean, previous: number | undefined]>([
    [1100, false, undefined],
    [1101, false, 1100],
    [2100, false, 1100],
    [1100, true, 100],
    [101, true, 100],
    [100, true, undefined],
  ])('before %i (immediate: %s) was due at %s', (before, immediate, previous) => {
    expect(intervalSchedule({ everyMs: 1000, anchorAt: 100, immediate }).previous(before)).toBe(previous)
  })

  it('returns the same instants backwards as forwards', () => {
    const anyEvery = fc.integer({ min: 1, max: 10 ** 12 })
    const anyInstant = fc.integer({ min: -(10 ** 13), max: 10 ** 13 })
    fc.assert(
      fc.property(anyEvery, anyInstant, anyInstant, fc.boolean(), (everyMs, anchorAt, after, immediate) => {
        const schedule = intervalSchedule({ everyMs, anchorAt, immediate })
        const at = schedule.next(after) ?? 0
        const following = schedule.next(at) ?? 0
        expect(at).toBeGreaterThan(after)
        expect((at - anchorAt) % everyMs).toBe(0)
        expect(schedule.previous(following)).toBe(at)
        expect(schedule.next(at - 1)).toBe(at)
      }),
    )
  })

  it('ends with the last possible instant', () => {
    const schedule = intervalSchedule({ everyMs: 10 ** 15, anchorAt: 0 })
    expect(schedule.next(8 * 10 ** 15)).toBeUndefined()
    expect(schedule.previous(Infinity)).toBe(8 * 10 ** 15)
  })

  it.each([
    { everyMs: 0, anchorAt: 0 },
    { everyMs: 1.5, anchorAt: 0 },
    { everyMs: Number.NaN, anchorAt: 0 },
    { everyMs: 1000, anchorAt: Infinity },
    { everyMs: 1000, anchorAt: 0.5 },
  ])('%o is refused', (options) => {
    expect(() => intervalSchedule(options)).toThrow(expect.objectContaining({ code: 'INTERVAL_INVALID' }))
  })
})
