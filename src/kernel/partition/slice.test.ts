import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseInstant } from '../../time/instant.js'
import { CALENDAR_END, CALENDAR_START, zoneOf } from '../../time/zone.js'
import { partitionOf } from './partition.js'
import {
  countSlices,
  shiftSlice,
  sliceAfter,
  sliceAt,
  sliceBefore,
  type Slice,
  type SliceGrain,
} from './slice.js'
import { isRefusal, parseSlice } from './text.js'

const zones = [
  'UTC',
  'America/New_York',
  'Europe/Berlin',
  'Europe/London',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'America/Sao_Paulo',
  'Asia/Beirut',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'America/St_Johns',
  'Antarctica/Casey',
  'Antarctica/Troll',
  'Africa/Monrovia',
  'Africa/Cairo',
  'Asia/Gaza',
]
const grains: readonly SliceGrain[] = ['hour', 'day', 'week', 'month']

/** Calendars go wrong near changes of offset, so half of all instants are drawn there. */
const moment = fc
  .tuple(
    fc.constantFrom(...zones),
    fc.integer({ min: CALENDAR_START, max: CALENDAR_END - 1 }),
    fc.boolean(),
    fc.integer({ min: -100_000_000, max: 100_000_000 }),
  )
  .map(([name, at, isNear, away]) => {
    const zone = zoneOf(name)
    const change = isNear ? zone.nextTransition(at)?.at : undefined
    const near = change === undefined ? at : change + away
    return { zone, at: Math.min(CALENDAR_END - 1, Math.max(CALENDAR_START, near)) }
  })
const slicings = fc.tuple(moment, fc.constantFrom(...grains)).map(([{ zone, at }, grain]) => ({
  slicing: { grain, zone },
  at,
}))

describe('slices', () => {
  it('F1: the slice of an instant contains it, and its label parses to the same slice', () => {
    fc.assert(
      fc.property(slicings, ({ slicing, at }) => {
        const slice = sliceAt(slicing, at)
        expect(slice.fromAt).toBeLessThanOrEqual(at)
        expect(slice.untilAt).toBeGreaterThan(at)
        expect(parseSlice(slicing, slice.label)).toEqual(slice)
      }),
      { numRuns: 2000 },
    )
  })

  it('slices are contiguous: each one ends where the next begins', () => {
    fc.assert(
      fc.property(slicings, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (drawn, part) => {
        const { slicing, at } = drawn
        const slice = sliceAt(slicing, at)
        const within = slice.fromAt + Math.floor((slice.untilAt - slice.fromAt) * part)
        expect(sliceAt(slicing, within)).toEqual(slice)
        expect(sliceAt(slicing, slice.untilAt - 1)).toEqual(slice)
        const next = sliceAfter(slicing, slice)
        if (next !== undefined) {
          expect(next.fromAt).toBe(slice.untilAt)
          expect(next.label).not.toBe(slice.label)
          expect(sliceBefore(slicing, next)).toEqual(slice)
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('shifting equals stepping, in both directions, and a long distance costs no more than a short one', () => {
    fc.assert(
      fc.property(slicings, fc.integer({ min: -300, max: 300 }), ({ slicing, at }, by) => {
        const first = sliceAt(slicing, at)
        let walked: Slice | undefined = first
        const step = by < 0 ? sliceBefore : sliceAfter
        for (let left = Math.abs(by); left > 0 && walked !== undefined; left--) walked = step(slicing, walked)
        let looks = 0
        const zone = new Proxy(slicing.zone, {
          get: (target, name) => {
            looks += 1
            const value: unknown = Reflect.get(target, name, target)
            return typeof value === 'function' ? (value.bind(target) as unknown) : value
          },
        })
        expect(shiftSlice({ ...slicing, zone }, first, by)).toEqual(walked)
        expect(looks).toBeLessThan(100)
      }),
      { numRuns: 300 },
    )
  })

  it('counting equals stepping', () => {
    fc.assert(
      fc.property(slicings, fc.integer({ min: 0, max: 200 }), ({ slicing, at }, steps) => {
        const first = sliceAt(slicing, at)
        let last: Slice = first
        let walked = 1
        for (let left = steps; left > 0; left--) {
          const next = sliceAfter(slicing, last)
          if (next === undefined) break
          last = next
          walked += 1
        }
        expect(countSlices(slicing, first, last)).toBe(walked)
      }),
      { numRuns: 500 },
    )
  })

  it('a trigger labels its runs with the same slices', () => {
    fc.assert(
      fc.property(slicings, ({ slicing, at }) => {
        expect(partitionOf(slicing.grain, at, slicing.zone.name)).toBe(sliceAt(slicing, at).label)
      }),
    )
  })
})

describe('labels around the jumps of clocks', () => {
  const hoursOf = (timezone: string, day: string): readonly string[] => {
    const zone = zoneOf(timezone)
    const slice = parsed({ grain: 'day', zone }, day)
    const labels: string[] = []
    for (let at = slice.fromAt; at < slice.untilAt; ) {
      const hour = sliceAt({ grain: 'hour', zone }, at)
      labels.push(hour.label)
      at = hour.untilAt
    }
    return labels
  }

  it('the hour that occurs twice has two labels, the hour that clocks skip has none', () => {
    expect(hoursOf('America/New_York', '2025-11-02').slice(0, 4)).toEqual([
      '2025-11-02T00:00-04:00',
      '2025-11-02T01:00-04:00',
      '2025-11-02T01:00-05:00',
      '2025-11-02T02:00-05:00',
    ])
    expect(hoursOf('America/New_York', '2025-11-02').length).toBe(25)
    expect(hoursOf('America/New_York', '2025-03-09').slice(1, 3)).toEqual([
      '2025-03-09T01:00-05:00',
      '2025-03-09T03:00-04:00',
    ])
    expect(hoursOf('America/New_York', '2025-03-09').length).toBe(23)
  })

  it('a jump of half an hour leaves half an hour with a label of its own', () => {
    expect(hoursOf('Australia/Lord_Howe', '2025-10-05').slice(1, 4)).toEqual([
      '2025-10-05T01:00+10:30',
      '2025-10-05T02:00+11:00',
      '2025-10-05T03:00+11:00',
    ])
    expect(hoursOf('Australia/Lord_Howe', '2025-04-06').slice(1, 4)).toEqual([
      '2025-04-06T01:00+11:00',
      '2025-04-06T01:00+10:30',
      '2025-04-06T02:00+10:30',
    ])
  })

  it('a day without midnight begins after the jump', () => {
    const zone = zoneOf('America/Sao_Paulo')
    const day = parsed({ grain: 'day', zone }, '2018-11-04')
    expect([day.fromAt, day.untilAt]).toEqual(
      ['2018-11-04T03:00:00Z', '2018-11-05T02:00:00Z'].map(parseInstant),
    )
    expect(hoursOf('America/Sao_Paulo', '2018-11-04')[0]).toBe('2018-11-04T01:00-02:00')
    expect(hoursOf('Asia/Beirut', '2026-03-29')[0]).toBe('2026-03-29T01:00+03:00')
    expect(hoursOf('Asia/Beirut', '2026-10-24').length).toBe(25)
  })

  it('a skipped day has no label, and the slice before it is the previous day', () => {
    const days = { grain: 'day', zone: zoneOf('Pacific/Apia') } as const
    expect(parseSlice(days, '2011-12-30')).toEqual({
      refused: '"2011-12-30" does not exist: in Pacific/Apia clocks skip it',
      allowed: 'a date such as 2025-01-15',
    })
    const last = parsed(days, '2011-12-31')
    expect(sliceBefore(days, last)?.label).toBe('2011-12-29')
    expect(countSlices(days, parsed(days, '2011-12-28'), last)).toBe(3)
    expect(partitionOf('previous-day', last.fromAt, 'Pacific/Apia')).toBe('2011-12-29')
  })

  it('a day does not come back if clocks go back over midnight', () => {
    const days = { grain: 'day', zone: zoneOf('America/St_Johns') } as const
    // At 00:01 on the 29th clocks went back to 23:01 of the 28th.
    const begin = parseInstant('2006-10-29T02:30:00Z')
    expect(sliceAt(days, begin - 1).label).toBe('2006-10-28')
    expect(sliceAt(days, begin).label).toBe('2006-10-29')
    expect(sliceAt(days, begin + 10 * 60_000).label).toBe('2006-10-29')
  })

  it('an offset with seconds is kept whole', () => {
    expect(partitionOf('hour', parseInstant('1971-06-01T12:00:00Z'), 'Africa/Monrovia')).toBe(
      '1971-06-01T11:00-00:44:30',
    )
  })
})

describe('invalid labels', () => {
  const rows = [
    { grain: 'day', label: '2025-02-30', why: '"2025-02-30" does not exist: 2025-02 has the days 01 to 28' },
    { grain: 'day', label: '2025-13-01', why: '"2025-13-01" does not exist: a year has the months 01 to 12' },
    { grain: 'day', label: '2025-1-15', why: '"2025-1-15" is not the label of a day' },
    { grain: 'day', label: '2025-01-15 ', why: '"2025-01-15 " is not the label of a day' },
    { grain: 'day', label: '1912-01-01', why: '"1912-01-01" is outside the calendar' },
    { grain: 'day', label: '2200-01-02', why: '"2200-01-02" is outside the calendar' },
    { grain: 'day', label: 20250115, why: '20250115 is not a text' },
    { grain: 'week', label: '2025-W53', why: '"2025-W53" does not exist: 2025 has the weeks W01 to W52' },
    { grain: 'week', label: '2025-W00', why: '"2025-W00" does not exist: 2025 has the weeks W01 to W52' },
    { grain: 'week', label: '2025-W1', why: '"2025-W1" is not the label of a week' },
    { grain: 'month', label: '2025-00', why: '"2025-00" does not exist: a year has the months 01 to 12' },
    { grain: 'month', label: '2025-01-01', why: '"2025-01-01" is not the label of a month' },
    { grain: 'hour', label: '2025-01-15T14:00', why: '"2025-01-15T14:00" is not the label of an hour' },
    {
      grain: 'hour',
      label: '2025-01-15T14:30-05:00',
      why: '"2025-01-15T14:30-05:00" is not the label of an hour',
    },
    {
      grain: 'hour',
      label: '2025-01-15t14:00-05:00',
      why: '"2025-01-15t14:00-05:00" is not the label of an hour',
    },
    {
      grain: 'hour',
      label: '2025-01-15T24:00-05:00',
      why: '"2025-01-15T24:00-05:00" is not the label of an hour',
    },
    {
      grain: 'hour',
      label: '2025-02-29T14:00-05:00',
      why: '"2025-02-29T14:00-05:00" does not exist: 2025-02 has the days 01 to 28',
    },
    {
      grain: 'hour',
      label: '2025-03-09T02:00-05:00',
      why: '"2025-03-09T02:00-05:00" does not exist: in America/New_York clocks skip it',
    },
    {
      grain: 'hour',
      label: '2025-07-15T14:00-05:00',
      why: '"2025-07-15T14:00-05:00" does not exist: at that hour America/New_York has another offset',
    },
  ] as const

  it.each(rows)('$label is refused as $grain: $why', ({ grain, label, why }) => {
    const refused = parseSlice({ grain, zone: zoneOf('America/New_York') }, label)
    expect(isRefusal(refused) ? refused.refused : refused).toBe(why)
  })

  it('the error for an hour with a wrong offset names the right ones', () => {
    const hours = { grain: 'hour', zone: zoneOf('America/New_York') } as const
    expect(parseSlice(hours, '2025-07-15T14:00Z')).toMatchObject({ allowed: '2025-07-15T14:00-04:00' })
    expect(parseSlice(hours, '2025-11-02T01:00-06:00')).toMatchObject({
      allowed: '2025-11-02T01:00-04:00 or 2025-11-02T01:00-05:00',
    })
  })

  it('UTC writes Z and no other spelling of it', () => {
    const hours = { grain: 'hour', zone: zoneOf('UTC') } as const
    expect(isRefusal(parseSlice(hours, '2025-01-15T14:00Z'))).toBe(false)
    expect(parseSlice(hours, '2025-01-15T14:00+00:00')).toMatchObject({ allowed: '2025-01-15T14:00Z' })
  })

  it('any text gives a slice with exactly that label, or a reason', () => {
    const written = fc.oneof(
      fc.string(),
      fc.stringMatching(/^(19|20|21)\d\d-\d\d(-\d\d)?(T\d\d:00(Z|[+-]\d\d:\d\d))?$/),
      fc.stringMatching(/^(19|20|21)\d\d-W\d\d$/),
    )
    fc.assert(
      fc.property(written, fc.constantFrom(...grains), fc.constantFrom(...zones), (label, grain, name) => {
        const answer = parseSlice({ grain, zone: zoneOf(name) }, label)
        if (!isRefusal(answer)) expect(answer.label).toBe(label)
      }),
      { numRuns: 1000 },
    )
  })
})

function parsed(slicing: Parameters<typeof parseSlice>[0], label: string): Slice {
  const slice = parseSlice(slicing, label)
  if (isRefusal(slice)) throw new Error(slice.refused)
  return slice
}
