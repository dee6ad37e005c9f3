import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aDue, aHold, minute, minutesOf, t0 } from '../../../test/fixtures/due-trigger.js'
import { intervalSchedule } from '../../time/interval.js'
import { cutHolds, instantsWithin } from './hold-cut.js'
import type { Hold } from '../hold/hold.js'

const schedule = intervalSchedule({ everyMs: minute, anchorAt: t0 })

/** Cuts the ten minutes after `t0` and shows all in minutes. */
function cutTen(holds: readonly Hold[]) {
  const { clear, ranges } = cutHolds({ due: aDue({}, { holds }), schedule, until: t0 + 10 * minute })
  return {
    // A hold is in force up to the millisecond before its end; shorter stretches do not count here.
    clear: clear
      .map(({ after, until }) => [after, until].map((at) => Math.ceil(minutesOf(at))))
      .filter(([after, until]) => after !== until),
    ranges: ranges.map(({ reason, firstAt, lastAt }) => [reason, minutesOf(firstAt), minutesOf(lastAt)]),
  }
}

describe('held stretches', () => {
  it.each([
    { what: 'nothing', holds: [], clear: [[0, 10]], ranges: [] },
    { what: 'all of it', holds: [aHold('all', -5)], clear: [], ranges: [['frozen', 1, 10]] },
    {
      what: 'the middle: in force at its first instant, no longer at its last',
      holds: [aHold('trigger:t', 3, 6)],
      clear: [
        [0, 3],
        [6, 10],
      ],
      ranges: [['paused', 3, 5]],
    },
    { what: 'the end', holds: [aHold('trigger:t', 8)], clear: [[0, 8]], ranges: [['paused', 8, 10]] },
    { what: 'a hold that ended before', holds: [aHold('trigger:t', -5, 0)], clear: [[0, 10]], ranges: [] },
    {
      what: 'a hold that ended at the first instant',
      holds: [aHold('trigger:t', -5, 1)],
      clear: [[1, 10]],
      ranges: [],
    },
    {
      what: 'a stretch without a due instant leaves no range',
      holds: [aHold('trigger:t', 2.2, 2.8)],
      clear: [
        [0, 3],
        [3, 10],
      ],
      ranges: [],
    },
    {
      what: 'a hold that was released for catch-up is clear',
      holds: [aHold('trigger:t', 2, 4, { catchUp: true })],
      clear: [[0, 10]],
      ranges: [],
    },
    {
      what: 'a switch before a freeze before a pause',
      holds: [aHold('trigger:t', 1, 10), aHold('all', 3, 8), aHold('switch:scheduler', 5, 6)],
      clear: [[0, 1]],
      ranges: [
        ['paused', 1, 2],
        ['frozen', 3, 4],
        ['switch', 5, 5],
        ['frozen', 6, 7],
        ['paused', 8, 9],
      ],
    },
  ])('$what', ({ holds, clear, ranges }) => {
    const result = cutTen(holds)
    expect(result.ranges).toEqual(ranges)
    expect(result.clear).toEqual(clear)
  })

  it('a range names who made the hold and why', () => {
    const holds = [aHold('trigger:t', 1, 2, { note: 'migration' }), aHold('all', 5, 6)]
    const { ranges } = cutHolds({ due: aDue({}, { holds, version: 4 }), schedule, until: t0 + 9 * minute })
    expect(ranges).toEqual([
      {
        trigger: 't',
        version: 4,
        firstAt: t0 + minute,
        lastAt: t0 + minute,
        reason: 'paused',
        rule: 'hold',
        detail: 'me: migration',
      },
      expect.objectContaining({ reason: 'frozen', detail: 'me' }),
    ])
  })

  it('every instant is in one clear stretch or one range, whatever the holds', () => {
    const hold = fc
      .tuple(
        fc.constantFrom('trigger:t', 'all', 'switch:pipeline'),
        fc.integer({ min: -5, max: 15 }),
        fc.integer({ min: 0, max: 9 }),
      )
      .map(([target, from, length]) =>
        aHold(target as Hold['target'], from / 2, length === 9 ? undefined : (from + length) / 2),
      )
    fc.assert(
      fc.property(fc.array(hold, { maxLength: 5 }), (holds) => {
        const { clear, ranges } = cutHolds({ due: aDue({}, { holds }), schedule, until: t0 + 10 * minute })
        for (let at = t0 + minute; at <= t0 + 10 * minute; at += minute) {
          const places = [
            ...clear.filter(({ after, until }) => after < at && at <= until),
            ...ranges.filter(({ firstAt, lastAt }) => firstAt <= at && at <= lastAt),
          ]
          expect({ at: minutesOf(at), places: places.length }).toEqual({ at: minutesOf(at), places: 1 })
        }
      }),
    )
  })
})

describe('the due instants of a stretch', () => {
  it.each([
    { after: 0, until: 3, first: 1, last: 3 },
    { after: 0.5, until: 1, first: 1, last: 1 },
    { after: 1, until: 1.9, first: undefined, last: undefined },
  ])('after $after, until $until: from $first to $last', ({ after, until, first, last }) => {
    const within = instantsWithin(schedule, { after: t0 + after * minute, until: t0 + until * minute })
    expect(within && minutesOf(within.firstAt)).toBe(first)
    expect(within && minutesOf(within.lastAt)).toBe(last)
  })
})
