import { describe, expect, it } from 'vitest'
import { intervalSchedule } from './interval.js'
import { onceSchedule } from './once.js'
import { bounded } from './schedule.js'

const everySecond = intervalSchedule({ everyMs: 1000, anchorAt: 0 })

describe('a bounded schedule', () => {
  const schedule = bounded(everySecond, { startAt: 3000, endAt: 5000 })

  it('includes both of its ends', () => {
    expect([0, 2999, 3000, 4000, 5000].map((after) => schedule.next(after))).toEqual([
      3000,
      3000,
      4000,
      5000,
      undefined,
    ])
    expect([9000, 5000, 4000, 3000].map((before) => schedule.previous(before))).toEqual([
      5000,
      4000,
      3000,
      undefined,
    ])
  })

  it('may be open on either side', () => {
    expect(bounded(everySecond, { startAt: 2500 }).next(0)).toBe(3000)
    expect(bounded(everySecond, { endAt: 2500 }).next(2000)).toBeUndefined()
    expect(bounded(everySecond, { endAt: 2500 }).previous(9000)).toBe(2000)
    expect(bounded(everySecond, {})).toBe(everySecond)
  })

  it('is refused if its end is before its start or not an instant', () => {
    const refusal = expect.objectContaining({ code: 'BOUNDS_INVALID' })
    expect(() => bounded(everySecond, { startAt: 2, endAt: 1 })).toThrow(refusal)
    expect(() => bounded(everySecond, { startAt: Number.NaN })).toThrow(refusal)
  })
})

describe('once', () => {
  it('is due at its only instant', () => {
    const schedule = onceSchedule(1000)
    expect([schedule.next(999), schedule.next(1000)]).toEqual([1000, undefined])
    expect([schedule.previous(1001), schedule.previous(1000)]).toEqual([1000, undefined])
  })

  it('is refused without an instant', () => {
    expect(() => onceSchedule(Number.NaN)).toThrow(expect.objectContaining({ code: 'INSTANT_INVALID' }))
  })
})
