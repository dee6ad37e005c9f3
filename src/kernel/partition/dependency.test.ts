import { describe, expect, it } from 'vitest'
import { placeOf } from '../definition/faults.js'
import { byKeys, custom, daily, hourly, twoDimensional } from './define.js'
import { checkMapping, readDependency } from './dependency.js'
import type { PartitionMap } from './pairs.js'
import type { PartitionSpec } from './spec.js'

describe('F13: the dependencies of a definition', () => {
  it.each([
    { value: 'raw_events', read: { asset: 'raw_events' } },
    { value: { asset: 'raw_events' }, read: { asset: 'raw_events' } },
    { value: { asset: 'raw_events', map: 'all' }, read: { asset: 'raw_events', map: 'all' } },
    {
      value: { asset: 'raw_events', map: { offset: -1 } },
      read: { asset: 'raw_events', map: { offset: -1 } },
    },
  ])('$value', ({ value, read }) => {
    const place = placeOf()
    expect(readDependency(value, place)).toEqual(read)
    expect(place.faults).toEqual([])
  })

  it.each([
    { value: 7, faults: ['deps: 7 is not a name'] },
    {
      value: { map: 'al' },
      faults: ['deps.asset: nothing is not a name', 'deps.map: "al" is not allowed; did you mean all?'],
    },
    { value: { asset: 'a', map: {} }, faults: ['deps.map.offset: it is missing'] },
    { value: { asset: 'a', map: { offset: 1.5 } }, faults: ['deps.map.offset: 1.5 is not allowed'] },
    { value: { asset: 'a', maps: 'all' }, faults: ['deps.maps: unknown option; did you mean map?'] },
  ])('$value is refused', ({ value, faults }) => {
    const place = placeOf('deps')
    expect(readDependency(value, place)).toBeUndefined()
    expect(place.faults.map(({ path, message }) => `${path}: ${message}`)).toEqual(faults)
  })
})

describe('F13: which assets can follow each other', () => {
  const none: PartitionSpec = { kind: 'unpartitioned' }
  const listed = daily({ start: '2026-01-01', end: '2026-01-31' })
  const rows: readonly {
    name: string
    downstream: PartitionSpec
    upstream: PartitionSpec
    map?: PartitionMap
    message?: RegExp
  }[] = [
    { name: 'hours under days', downstream: daily(), upstream: hourly(), map: 'time' },
    { name: 'whole under days', downstream: daily(), upstream: none },
    {
      name: 'whole under days, same',
      downstream: daily(),
      upstream: none,
      map: 'same',
      message: /no partitions to choose/,
    },
    { name: 'days under the whole', downstream: none, upstream: daily(), message: /it is unclear which/ },
    { name: 'days under the whole, any', downstream: none, upstream: daily(), map: 'any' },
    {
      name: 'days under the whole, all',
      downstream: none,
      upstream: daily(),
      map: 'all',
      message: /cannot be listed/,
    },
    { name: 'a month of days under the whole, all', downstream: none, upstream: listed, map: 'all' },
    { name: 'keys under days', downstream: daily(), upstream: byKeys(['a']), message: /nothing in common/ },
    { name: 'keys under days, all', downstream: daily(), upstream: byKeys(['a']), map: 'all' },
    {
      name: 'keys under keys, time',
      downstream: byKeys(['a']),
      upstream: byKeys(['a']),
      map: 'time',
      message: /one dimension of time/,
    },
    {
      name: 'keys under keys, offset',
      downstream: byKeys(['a']),
      upstream: byKeys(['a']),
      map: { offset: -1 },
      message: /one dimension of time/,
    },
    {
      name: 'days under hours, same',
      downstream: hourly(),
      upstream: daily(),
      map: 'same',
      message: /never have the same label/,
    },
    {
      name: 'hours of two zones, same',
      downstream: hourly(),
      upstream: hourly({ timezone: 'Asia/Tokyo' }),
      map: 'same',
      message: /never have the same/,
    },
    { name: 'custom under days, same', downstream: daily(), upstream: custom(), map: 'same' },
    {
      name: 'pairs with unknown labels under days',
      downstream: daily(),
      upstream: twoDimensional(daily(), custom()),
      message: /cannot be listed/,
    },
    {
      name: 'pairs of times, offset',
      downstream: twoDimensional(daily(), daily()),
      upstream: twoDimensional(daily(), daily()),
      map: { offset: -1 },
      message: /one dimension of time/,
    },
    {
      name: 'fewer keys than needed',
      downstream: byKeys(['a', 'b', 'c']),
      upstream: byKeys(['a']),
      message: /no partition for "b", "c"/,
    },
  ]

  it.each(rows)('$name', ({ downstream, upstream, map, message }) => {
    const place = placeOf('deps')
    checkMapping({ downstream, upstream, map }, place)
    if (message === undefined) expect(place.faults).toEqual([])
    else expect(place.faults.map((fault) => fault.message)).toEqual([expect.stringMatching(message)])
  })
})
