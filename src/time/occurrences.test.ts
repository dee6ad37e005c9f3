import { describe, expect, it } from 'vitest'
import { MAX_OCCURRENCES, nextOccurrences, previousOccurrence } from './occurrences.js'
import type { TimeErrorCode } from './time-error.js'

describe('nextOccurrences', () => {
  it('returns one occurrence in UTC by default', () => {
    expect(nextOccurrences('0 9 * * *', { from: '2026-01-05T09:00:00Z' })).toEqual([
      new Date('2026-01-06T09:00:00Z'),
    ])
  })

  it('counts strictly after from, in the zone', () => {
    const from = new Date('2026-01-05T02:00:00Z')
    expect(nextOccurrences('0 9 * * *', { timezone: 'Asia/Bangkok', from, count: 2 })).toEqual([
      new Date('2026-01-06T02:00:00Z'),
      new Date('2026-01-07T02:00:00Z'),
    ])
  })

  it('reads `from` without an offset in the zone', () => {
    const options = { timezone: 'Asia/Bangkok', from: '2026-01-05T08:59' }
    expect(nextOccurrences('0 9 * * *', options)).toEqual([new Date('2026-01-05T02:00:00Z')])
  })

  it('follows the policy for daylight saving', () => {
    const options = { timezone: 'Europe/Berlin', from: '2026-03-28T12:00' }
    expect(nextOccurrences('30 2 * * *', options)).toEqual([new Date('2026-03-29T01:00:00Z')])
    expect(nextOccurrences('30 2 * * *', { ...options, dst: 'skip' })).toEqual([
      new Date('2026-03-30T00:30:00Z'),
    ])
  })

  it('returns fewer if there are no more', () => {
    const from = '2026-01-01T00:00:00Z'
    expect(nextOccurrences('0 0 30 2 *', { from, count: 5 })).toEqual([])
    expect(nextOccurrences('0 0 0 1 1 ? 2027-2028', { from, count: 5 })).toHaveLength(2)
    expect(nextOccurrences('* * * * * *', { from, count: MAX_OCCURRENCES })).toHaveLength(MAX_OCCURRENCES)
  })

  it.each<[expression: string, options: object, code: TimeErrorCode]>([
    ['0 9 * *', { from: '2026-01-05T09:00:00Z' }, 'CRON_FIELD_COUNT'],
    ['0 9 * * *', { from: '2026-02-30T09:00:00Z' }, 'INSTANT_INVALID'],
    ['0 9 * * *', { from: '2026-02-30T09:00' }, 'LOCAL_TIME_INVALID'],
    ['0 9 * * *', { from: new Date(Number.NaN) }, 'INSTANT_INVALID'],
    ['0 9 * * *', {}, 'INSTANT_INVALID'],
    ['0 9 * * *', { from: new Date(0), timezone: 'CET' }, 'ZONE_UNKNOWN'],
    ['0 9 * * *', { from: new Date(0), dst: 'maybe' }, 'DST_UNKNOWN'],
    ['0 9 * * *', { from: new Date(0), count: 0 }, 'COUNT_INVALID'],
    ['0 9 * * *', { from: new Date(0), count: 1.5 }, 'COUNT_INVALID'],
    ['0 9 * * *', { from: new Date(0), count: MAX_OCCURRENCES + 1 }, 'COUNT_INVALID'],
  ])('refuses %s with %o as %s', (expression, options, code) => {
    // @ts-expect-error a caller without types
    expect(() => nextOccurrences(expression, options)).toThrow(expect.objectContaining({ code }))
  })
})

describe('previousOccurrence', () => {
  it('is strictly earlier', () => {
    const from = '2026-01-05T09:00:00Z'
    expect(previousOccurrence('0 9 * * *', { from })).toEqual(new Date('2026-01-04T09:00:00Z'))
    expect(previousOccurrence('0 9 * * *', { from: '2026-01-05T09:00:00.001Z' })).toEqual(new Date(from))
    expect(previousOccurrence('0 0 0 1 1 ? 2027', { from })).toBeUndefined()
  })
})
