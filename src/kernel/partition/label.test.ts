import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseInstant } from '../../time/instant.js'
import { byKeys, custom, daily, hourly, monthly, twoDimensional } from './define.js'
import { joinLabel, labelAt, labelFault, shiftLabel, sliceOf, splitLabel } from './label.js'
import { countLabels, labelsOf } from './range.js'
import { wholeLabel, type PartitionSpec } from './spec.js'

const newYork = 'America/New_York'
const unpartitioned: PartitionSpec = { kind: 'unpartitioned' }

describe('the label of an instant', () => {
  it('F1: a run at 02:00 in New York is about its local day, or with previous about the day before', () => {
    const at = parseInstant('2025-01-15T07:00:00Z')
    expect(labelAt(daily({ timezone: newYork }), at)).toBe('2025-01-15')
    expect(labelAt(daily({ timezone: newYork, previous: true }), at)).toBe('2025-01-14')
  })

  it('F1: an hourly run has the hour as its partition, a run every 15 minutes the hour it falls into', () => {
    expect(labelAt(hourly(), parseInstant('2025-01-15T14:00:00Z'))).toBe('2025-01-15T14:00Z')
    expect(labelAt(hourly({ timezone: newYork }), parseInstant('2025-01-15T19:45:00Z'))).toBe(
      '2025-01-15T14:00-05:00',
    )
  })

  it('F2: the label depends on the due instant and the zone alone, so that a retry after midnight keeps the day', () => {
    const dueAt = parseInstant('2025-01-16T04:59:59Z')
    expect(labelAt(daily({ timezone: newYork }), dueAt)).toBe('2025-01-15')
    expect(labelAt(daily({ timezone: newYork }), dueAt + 1000)).toBe('2025-01-16')
  })

  it('an instant outside start and end has none, and neither has one without a single time dimension', () => {
    const january = daily({ start: '2025-01-01', end: '2025-01-31' })
    expect(labelAt(january, parseInstant('2024-12-31T23:59:59Z'))).toBeUndefined()
    expect(labelAt(january, parseInstant('2025-01-31T23:59:59Z'))).toBe('2025-01-31')
    expect(labelAt(january, parseInstant('2025-02-01T00:00:00Z'))).toBeUndefined()
    for (const spec of [byKeys(['a']), custom(), twoDimensional(daily(), byKeys(['a']))]) {
      expect(labelAt(spec, 0)).toBeUndefined()
    }
    expect(labelAt(unpartitioned, 0)).toBe(wholeLabel)
  })
})

describe('which labels a spec accepts', () => {
  const rows: readonly { spec: PartitionSpec; label: unknown; refused: string | undefined }[] = [
    {
      spec: daily({ start: '2025-01-02' }),
      label: '2025-01-01',
      refused: '"2025-01-01" is before the first partition',
    },
    {
      spec: daily({ end: '2025-01-02' }),
      label: '2025-01-03',
      refused: '"2025-01-03" is after the last partition',
    },
    { spec: daily({ start: '2025-01-02', end: '2025-01-02' }), label: '2025-01-02', refused: undefined },
    { spec: byKeys(['eu', 'us']), label: 'us', refused: undefined },
    { spec: byKeys(['eu', 'us']), label: 'US', refused: '"US" is not allowed' },
    { spec: custom(), label: 'anything at all', refused: undefined },
    { spec: custom(), label: '', refused: '"" cannot be a label' },
    { spec: custom(['a']), label: 'b', refused: '"b" is not allowed' },
    { spec: unpartitioned, label: '', refused: undefined },
    { spec: unpartitioned, label: 'x', refused: '"x" is a partition' },
    { spec: twoDimensional(daily(), byKeys(['a|b'])), label: '2025-01-15|a\\|b', refused: undefined },
    {
      spec: twoDimensional(daily(), byKeys(['a|b'])),
      label: '2025-01-15|a|b',
      refused: '"2025-01-15|a|b" is not a pair of labels',
    },
    {
      spec: twoDimensional(daily(), byKeys(['a'])),
      label: '2025-01-15',
      refused: '"2025-01-15" is not a pair of labels',
    },
    {
      spec: twoDimensional(daily(), byKeys(['a'])),
      label: '2025-02-30|a',
      refused: '"2025-02-30" does not exist: 2025-02 has the days 01 to 28',
    },
    { spec: twoDimensional(daily(), byKeys(['a'])), label: 7, refused: '7 is not a pair of labels' },
  ]
  it.each(rows)('$spec.kind and $label', ({ spec, label, refused }) => {
    expect(labelFault(spec, label)?.refused).toBe(refused)
  })

  it('different pairs have different labels, and every label splits into its pair', () => {
    const part = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('|', '\\', 'a') }))
    fc.assert(
      fc.property(part, part, (one, other) => {
        expect(splitLabel(joinLabel(one, other))).toEqual([one, other])
      }),
    )
  })

  it('a label that is split and joined again stays the same, or is not a pair', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('|', '\\', 'a') }), (label) => {
        const pair = splitLabel(label)
        if (pair !== undefined) expect(joinLabel(...pair)).toBe(label)
      }),
    )
  })
})

describe('neighbours', () => {
  it('the slice before and after, by the calendar', () => {
    expect(shiftLabel(daily(), '2024-03-01', -1)).toBe('2024-02-29')
    expect(shiftLabel(monthly(), '2025-12', 1)).toBe('2026-01')
    expect(shiftLabel(daily({ timezone: 'Pacific/Apia' }), '2011-12-29', 1)).toBe('2011-12-31')
    expect(shiftLabel(hourly({ timezone: newYork }), '2025-11-02T01:00-04:00', 1)).toBe(
      '2025-11-02T01:00-05:00',
    )
  })

  it('there is none beyond the start, the end and the calendar', () => {
    expect(shiftLabel(daily({ start: '2025-01-01' }), '2025-01-01', -1)).toBeUndefined()
    expect(shiftLabel(daily({ end: '2025-01-01' }), '2025-01-01', 1)).toBeUndefined()
    expect(shiftLabel(daily(), '2199-12-31', 1)).toBeUndefined()
    expect(shiftLabel(daily(), '1970-01-01', -1)).toBeUndefined()
  })

  it('a slice outside the bounds is refused', () => {
    expect(() => sliceOf(daily({ start: '2025-01-01' }), '2024-12-31')).toThrow(
      expect.objectContaining({ code: 'PARTITION_INVALID' }),
    )
  })
})

describe('ranges', () => {
  it('both ends belong to it', () => {
    expect([...labelsOf(daily(), { from: '2024-02-28', to: '2024-03-01' })]).toEqual([
      '2024-02-28',
      '2024-02-29',
      '2024-03-01',
    ])
    expect([...labelsOf(byKeys(['a', 'b', 'c']), { from: 'b' })]).toEqual(['b', 'c'])
    expect([...labelsOf(unpartitioned)]).toEqual([wholeLabel])
  })

  it('of two dimensions it is the rectangle between two pairs', () => {
    const spec = twoDimensional(daily({ start: '2025-01-01', end: '2025-01-02' }), byKeys(['a', 'b', 'c']))
    expect([...labelsOf(spec, { from: '2025-01-01|b', to: '2025-01-02|c' })]).toEqual([
      '2025-01-01|b',
      '2025-01-01|c',
      '2025-01-02|b',
      '2025-01-02|c',
    ])
    expect(countLabels(spec)).toBe(6)
  })

  it('more than the limit is refused before the first label, naming the limit', () => {
    expect(() => labelsOf(hourly(), { from: '2000-01-01T00:00Z', to: '2099-01-01T00:00Z' })).toThrow(
      '867841 partitions are more than the limit of 100000',
    )
    expect(countLabels(hourly(), { from: '2000-01-01T00:00Z', to: '2099-01-01T00:00Z' })).toBe(867_841)
  })

  it('labels are generated lazily: the first of a hundred thousand costs no more than the first of two', () => {
    const [first] = labelsOf(hourly(), { from: '2000-01-01T00:00Z', to: '2011-01-01T00:00Z' })
    expect(first).toBe('2000-01-01T00:00Z')
  })

  it('a range without end, a reversed range and invalid labels are refused', () => {
    expect(() => labelsOf(daily(), { from: '2025-01-01' })).toThrow(/has no to/)
    expect(() => labelsOf(daily(), { to: '2025-01-01' })).toThrow(/has no from/)
    expect(() => labelsOf(daily(), { from: '2025-01-02', to: '2025-01-01' })).toThrow(/is reversed/)
    expect(() => labelsOf(byKeys(['a', 'b']), { from: 'b', to: 'a' })).toThrow(/is reversed/)
    expect(() => labelsOf(daily(), { from: '2025-02-30', to: '2025-03-01' })).toThrow(/has the days 01 to 28/)
    expect(() => labelsOf(custom())).toThrow(/cannot be listed/)
  })

  it('counting equals listing for every spec', () => {
    const day = fc.integer({ min: 0, max: 80_000 }).map((index) => labelAt(daily(), index * 86_400_000) ?? '')
    fc.assert(
      fc.property(day, fc.integer({ min: 0, max: 50 }), (from, length) => {
        const to = shiftLabel(daily(), from, length) ?? from
        const spec = twoDimensional(daily(), byKeys(['a', 'b']))
        const range = { from: joinLabel(from, 'a'), to: joinLabel(to, 'b') }
        expect([...labelsOf(spec, range)].length).toBe(countLabels(spec, range))
      }),
    )
  })
})
