import { describe, expect, it } from 'vitest'
import { formatInstant, parseInstant } from '../../time/instant.js'
import { daily, hourly } from '../partition/define.js'
import type { PartitionSpec } from '../partition/spec.js'
import { firstWatched, madePromises, nextWatched, type MadePromise } from './made.js'
import type { Sla } from './sla.js'

function promiseOf(sla: Sla, partitions: PartitionSpec): MadePromise {
  const [promise] = madePromises({ sla, asset: { partitions, deps: [] } })
  return promise as MadePromise
}

describe('the partitions of an asset', () => {
  it.each<[Sla, PartitionSpec, string, string[]]>([
    // Days of Berlin end at their own midnight; the day on which clocks jump is shorter.
    [
      { madeWithinMs: 3_600_000 },
      daily({ timezone: 'Europe/Berlin' }),
      '2026-03-28T12:00:00Z',
      ['2026-03-28 by 2026-03-29T00:00:00Z', '2026-03-29 by 2026-03-29T23:00:00Z'],
    ],
    // A time of day, after a day that begins at one o'clock.
    [
      { madeBy: '02:00', timezone: 'Africa/Cairo' },
      daily({ timezone: 'Africa/Cairo' }),
      '2026-04-22T12:00:00Z',
      [
        '2026-04-22 by 2026-04-23T00:00:00Z',
        '2026-04-23 by 2026-04-23T23:00:00Z',
        '2026-04-24 by 2026-04-24T23:00:00Z',
      ],
    ],
    [
      { madeWithinMs: 60_000 },
      hourly({ end: '2026-01-05T01:00Z' }),
      '2026-01-05T00:30:00Z',
      ['2026-01-05T00:00Z by 2026-01-05T01:01:00Z', '2026-01-05T01:00Z by 2026-01-05T02:01:00Z', 'nothing'],
    ],
    // An asset that begins later is watched from its start on.
    [
      { madeWithinMs: 60_000 },
      daily({ start: '2026-02-01' }),
      '2026-01-05T00:30:00Z',
      ['2026-02-01 by 2026-02-02T00:01:00Z'],
    ],
  ])('%j of %j from %s on', (sla, partitions, now, expected) => {
    const promise = promiseOf(sla, partitions)
    let watched = firstWatched(promise, parseInstant(now))
    const found = expected.map(() => {
      const text =
        watched === undefined ? 'nothing' : `${watched.partition} by ${formatInstant(watched.deadlineAt)}`
      watched = watched === undefined ? undefined : nextWatched(promise, watched)
      return text
    })
    expect(found).toEqual(expected)
  })
})
