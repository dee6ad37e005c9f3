import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CALENDAR_END } from '../../time/zone.js'
import { byKeys, custom, daily, hourly, monthly, twoDimensional, weekly } from './define.js'
import { labelAt, labelFault, joinLabel } from './label.js'
import { downstreamPartitions, needs, upstreamPartitions } from './map.js'
import { mappingFault, type Mapping, type PartitionMap } from './pairs.js'
import {
  dimensionsOf,
  isTime,
  wholeLabel,
  writtenLabels,
  type Dimension,
  type PartitionSpec,
} from './spec.js'

const berlin = 'Europe/Berlin'
const unpartitioned: PartitionSpec = { kind: 'unpartitioned' }

function needed(mapping: Mapping, label: string): readonly string[] {
  const answer = upstreamPartitions(mapping, label)
  if (answer.kind === 'any') throw new Error('any')
  return answer.labels
}

function touched(mapping: Mapping, label: string): readonly string[] {
  const answer = downstreamPartitions(mapping, label)
  if (answer.kind === 'unlisted') throw new Error('unlisted')
  return answer.labels
}

describe('F13: what a partition needs from upstream', () => {
  const days = daily({ timezone: berlin })
  const hours = hourly({ timezone: berlin })

  it.each([
    { day: '2026-01-15', count: 24 },
    { day: '2026-03-29', count: 23 },
    { day: '2026-10-25', count: 25 },
  ])('the day $day needs its $count hours', ({ day, count }) => {
    const labels = needed({ downstream: days, upstream: hours }, day)
    expect(labels.length).toBe(count)
    expect(labels.every((label) => label.startsWith(day))).toBe(true)
  })

  it('a week needs its seven days, a month its own', () => {
    expect(needed({ downstream: weekly(), upstream: daily() }, '2026-W01')).toEqual([
      '2025-12-29',
      '2025-12-30',
      '2025-12-31',
      '2026-01-01',
      '2026-01-02',
      '2026-01-03',
      '2026-01-04',
    ])
    expect(needed({ downstream: monthly(), upstream: daily() }, '2024-02').length).toBe(29)
  })

  it('an hour needs the day that contains it', () => {
    expect(needed({ downstream: hours, upstream: days }, '2026-10-25T02:00+01:00')).toEqual(['2026-10-25'])
  })

  it('weeks and months need what they overlap', () => {
    expect(needed({ downstream: weekly(), upstream: monthly() }, '2026-W05')).toEqual(['2026-01', '2026-02'])
    expect(needed({ downstream: monthly(), upstream: weekly() }, '2026-02')).toEqual([
      '2026-W05',
      '2026-W06',
      '2026-W07',
      '2026-W08',
      '2026-W09',
    ])
  })

  it('the same grain in another zone needs every overlapping slice, or with `same` the one with its label', () => {
    const mapping = { downstream: daily({ timezone: 'Asia/Tokyo' }), upstream: daily() }
    expect(needed(mapping, '2026-01-15')).toEqual(['2026-01-14', '2026-01-15'])
    expect(needed({ ...mapping, map: 'same' }, '2026-01-15')).toEqual(['2026-01-15'])
  })

  it('with an offset it needs what the previous slice would', () => {
    const mapping: Mapping = { downstream: days, upstream: days, map: { offset: -1 } }
    expect(needed(mapping, '2026-03-01')).toEqual(['2026-02-28'])
    expect(touched(mapping, '2026-02-28')).toEqual(['2026-03-01'])
    const ofHours = needed({ downstream: days, upstream: hours, map: { offset: -1 } }, '2026-03-30')
    expect([ofHours.length, ofHours[0]]).toEqual([23, '2026-03-29T00:00+01:00'])
  })

  it('the first slice of an asset that needs its previous slice needs nothing', () => {
    const first = daily({ start: '2026-01-01' })
    expect(needed({ downstream: first, upstream: first, map: { offset: -1 } }, '2026-01-01')).toEqual([])
    // Upstream may be older than the asset itself.
    const older = daily({ start: '2025-01-01' })
    expect(needed({ downstream: first, upstream: older, map: { offset: -1 } }, '2026-01-01')).toEqual([
      '2025-12-31',
    ])
  })

  it('only what exists upstream is needed', () => {
    const upstream = hourly({ start: '2026-01-15T22:00Z' })
    expect(needed({ downstream: daily(), upstream }, '2026-01-15')).toEqual([
      '2026-01-15T22:00Z',
      '2026-01-15T23:00Z',
    ])
    expect(needed({ downstream: daily(), upstream }, '2026-01-14')).toEqual([])
  })

  it('keys need the same key', () => {
    const mapping = { downstream: byKeys(['eu', 'us']), upstream: byKeys(['us', 'eu', 'asia']) }
    expect(needed(mapping, 'eu')).toEqual(['eu'])
    expect(touched(mapping, 'asia')).toEqual([])
    expect(needed({ downstream: custom(), upstream: custom() }, 'x')).toEqual(['x'])
  })

  it('with two dimensions each needs its own, in any order', () => {
    const downstream = twoDimensional(weekly(), byKeys(['eu', 'us']))
    const upstream = twoDimensional(byKeys(['eu', 'us']), daily())
    expect(needed({ downstream, upstream }, '2026-W03|eu').slice(0, 2)).toEqual([
      'eu|2026-01-12',
      'eu|2026-01-13',
    ])
    expect(touched({ downstream, upstream }, 'us|2026-01-18')).toEqual(['2026-W03|us'])
  })

  it('a dimension that the other asset does not have is needed and affected as a whole', () => {
    const pairs = twoDimensional(daily(), byKeys(['eu', 'us']))
    expect(needed({ downstream: daily(), upstream: pairs }, '2026-01-15')).toEqual([
      '2026-01-15|eu',
      '2026-01-15|us',
    ])
    expect(touched({ downstream: pairs, upstream: daily() }, '2026-01-15')).toEqual([
      '2026-01-15|eu',
      '2026-01-15|us',
    ])
    // The days have no end: what one key affects cannot be listed, but every pair can be checked.
    const mapping = { downstream: pairs, upstream: byKeys(['eu', 'us']) }
    expect(downstreamPartitions(mapping, 'eu')).toEqual({ kind: 'unlisted' })
    expect(needs(mapping, { downstream: '2026-01-15|eu', upstream: 'eu' })).toBe(true)
    expect(needs(mapping, { downstream: '2026-01-15|us', upstream: 'eu' })).toBe(false)
  })

  it('data without partitions is needed as a whole, and affects everything', () => {
    const mapping = { downstream: byKeys(['eu', 'us']), upstream: unpartitioned }
    expect(needed(mapping, 'eu')).toEqual([wholeLabel])
    expect(touched(mapping, wholeLabel)).toEqual(['eu', 'us'])
    expect(downstreamPartitions({ downstream: daily(), upstream: unpartitioned }, wholeLabel)).toEqual({
      kind: 'unlisted',
    })
    expect(needed({ downstream: unpartitioned, upstream: unpartitioned }, wholeLabel)).toEqual([wholeLabel])
  })

  it('data without partitions follows all partitions or any one, by its map', () => {
    const upstream = byKeys(['eu', 'us'])
    const all: Mapping = { downstream: unpartitioned, upstream, map: 'all' }
    expect(needed(all, wholeLabel)).toEqual(['eu', 'us'])
    expect(touched(all, 'us')).toEqual([wholeLabel])
    const any: Mapping = { downstream: unpartitioned, upstream: daily(), map: 'any' }
    expect(upstreamPartitions(any, wholeLabel)).toEqual({ kind: 'any' })
    expect(touched(any, '2026-01-15')).toEqual([wholeLabel])
  })

  it('an invalid label and an impossible mapping are refused', () => {
    expect(() => upstreamPartitions({ downstream: days, upstream: hours }, '2026-02-30')).toThrow(
      expect.objectContaining({ code: 'PARTITION_INVALID' }),
    )
    expect(() => upstreamPartitions({ downstream: days, upstream: custom() }, '2026-02-28')).toThrow(
      expect.objectContaining({ code: 'DEFINITION_INVALID' }),
    )
  })

  it('more than the limit is refused as a definition, and can only be checked one by one', () => {
    const keys = byKeys(Array.from({ length: 1000 }, (_, index) => `k${index}`))
    const mapping = { downstream: monthly(), upstream: twoDimensional(hourly(), keys) }
    expect(() => upstreamPartitions(mapping, '2026-01')).toThrow(/one partition may need 746000 of it/)
    const other: Mapping = {
      downstream: twoDimensional(keys, byKeys(keys.keys)),
      upstream: daily(),
      map: 'any',
    }
    expect(downstreamPartitions(other, '2026-01-01')).toEqual({ kind: 'unlisted' })
  })
})

it('F13: a long list of keys is read once, not for every partition of it', () => {
  let reads = 0
  const keys = Array.from({ length: 500 }, (_, index) => `key-${index}`)
  const counted = Object.defineProperty([...keys], Symbol.iterator, {
    get: () => {
      reads += 1
      return Array.prototype[Symbol.iterator]
    },
  })
  const spec: PartitionSpec = { kind: 'keys', keys: counted }
  for (const map of [undefined, 'same'] as const) {
    for (const key of keys) {
      expect(needed({ downstream: spec, upstream: spec, map }, key)).toEqual([key])
      expect(touched({ downstream: spec, upstream: spec, map }, key)).toEqual([key])
    }
  }
  expect(reads).toBeLessThan(10)
})

describe('F13: up and down are inverse', () => {
  const timezone = fc.constantFrom(
    'UTC',
    'America/New_York',
    'America/Sao_Paulo',
    'Pacific/Apia',
    'Australia/Lord_Howe',
  )
  const time = fc
    .tuple(fc.constantFrom(hourly, daily, weekly, monthly), timezone, fc.boolean())
    .map(([make, zone, isBounded]): Dimension => {
      if (!isBounded) return make({ timezone: zone })
      const spec = make({ timezone: zone })
      const [start, end] = [Date.UTC(2011, 11, 25), Date.UTC(2012, 0, 8)].map((at) => labelAt(spec, at))
      return make({ timezone: zone, start, end })
    })
  const keys = fc.subarray(['a', 'b', 'c|d', 'e\\'], { minLength: 1 }).map((list): Dimension => byKeys(list))
  const dimension = fc.oneof({ weight: 3, arbitrary: time }, { weight: 1, arbitrary: keys })
  const spec: fc.Arbitrary<PartitionSpec> = fc.oneof(
    { weight: 4, arbitrary: dimension },
    {
      weight: 2,
      arbitrary: fc.tuple(dimension, dimension).map(([one, other]) => twoDimensional(one, other)),
    },
    { weight: 1, arbitrary: fc.constant(unpartitioned) },
  )
  const map = fc.constantFrom<(PartitionMap | undefined)[]>(
    undefined,
    undefined,
    'same',
    'time',
    'all',
    'any',
    { offset: -1 },
    { offset: 2 },
  )
  const at = fc.oneof(
    fc.integer({ min: 0, max: CALENDAR_END - 1 }),
    fc.integer({ min: Date.UTC(2011, 11, 20), max: Date.UTC(2012, 0, 10) }),
    fc.integer({ min: Date.UTC(2018, 9, 20), max: Date.UTC(2018, 10, 10) }),
  )

  function labelNear(of: PartitionSpec, instant: number, pick: number): string | undefined {
    const parts = dimensionsOf(of).map((part) => {
      if (isTime(part)) return labelAt(part, instant)
      const labels = writtenLabels(part) ?? []
      return labels[pick % labels.length]
    })
    const [first, second] = parts
    if (parts.includes(undefined)) return undefined
    if (first === undefined) return wholeLabel
    return second === undefined ? first : joinLabel(first, second)
  }

  const drawn = fc
    .record({ downstream: spec, upstream: spec, map, at, pick: fc.nat(100) })
    .filter((mapping) => mappingFault(mapping) === undefined)

  it('every partition that a partition needs affects it', () => {
    fc.assert(
      fc.property(drawn, ({ at: instant, pick, ...mapping }) => {
        const label = labelNear(mapping.downstream, instant, pick)
        if (label === undefined) return
        const answer = upstreamPartitions(mapping, label)
        if (answer.kind === 'any') return
        expect(new Set(answer.labels).size).toBe(answer.labels.length)
        for (const up of answer.labels.slice(0, 30)) {
          expect(labelFault(mapping.upstream, up)).toBeUndefined()
          const back = downstreamPartitions(mapping, up)
          if (back.kind === 'each') expect(back.labels).toContain(label)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('every partition that a partition affects needs it', () => {
    fc.assert(
      fc.property(drawn, ({ at: instant, pick, ...mapping }) => {
        const label = labelNear(mapping.upstream, instant, pick)
        if (label === undefined) return
        const answer = downstreamPartitions(mapping, label)
        if (answer.kind === 'unlisted') return
        expect(new Set(answer.labels).size).toBe(answer.labels.length)
        for (const down of answer.labels.slice(0, 30)) {
          expect(labelFault(mapping.downstream, down)).toBeUndefined()
          expect(needs(mapping, { downstream: down, upstream: label })).toBe(true)
        }
      }),
      { numRuns: 1000 },
    )
  })
})
