import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aDue, minute, minutesOf, t0 } from '../../../test/fixtures/due-trigger.js'
import { intervalSchedule } from '../../time/interval.js'
import { onceSchedule } from '../../time/once.js'
import { catchUp } from './catch-up.js'
import { triggerRunId } from '../identity/occurrence.js'
import type { CatchUpPolicy, Trigger } from '../trigger/trigger.js'

const schedule = intervalSchedule({ everyMs: minute, anchorAt: t0 })

/** Catches up the stretches, all in minutes after `t0`, the last one ending now. */
function caughtUp(
  policy: Partial<CatchUpPolicy>,
  stretches: readonly (readonly [number, number])[],
  now?: number,
) {
  const due = aDue({
    catchUp: { mode: 'latest', maxAgeMs: undefined, maxRuns: 3, graceMs: minute, ...policy },
  })
  const clear = stretches.map(([after, until]) => ({
    after: t0 + after * minute,
    until: t0 + until * minute,
  }))
  const nowAt = t0 + (now ?? stretches.at(-1)?.[1] ?? 0) * minute
  const { candidates, ranges } = catchUp({ due, schedule, clear, now: nowAt })
  return {
    runs: candidates.map(minutesOf),
    rest: ranges.map(({ reason, rule, firstAt, lastAt }) => [
      reason,
      rule,
      minutesOf(firstAt),
      minutesOf(lastAt),
    ]),
    blockers: ranges.map(({ blocker }) => blocker),
  }
}

describe('instants found in time and late', () => {
  it.each([
    { mode: 'skip', window: [0, 1], runs: [1], rest: [] },
    { mode: 'latest', window: [0, 1], runs: [1], rest: [] },
    { mode: 'all', window: [0, 1], runs: [1], rest: [] },
    // Within the grace an instant is on time under every policy: here the last two.
    { mode: 'skip', window: [0, 10], runs: [9, 10], rest: [['missed', 'catch-up:skip', 1, 8]] },
    { mode: 'latest', window: [0, 10], runs: [9, 10], rest: [['collapsed', 'catch-up:latest', 1, 8]] },
    { mode: 'all', window: [0, 10], runs: [6, 7, 8, 9, 10], rest: [['missed', 'catch-up:max-runs', 1, 5]] },
    { mode: 'all', window: [0, 4], runs: [1, 2, 3, 4], rest: [] },
    { mode: 'all', window: [4, 4], runs: [], rest: [] },
  ] as const)('$mode over $window runs $runs', ({ mode, window, runs, rest }) => {
    expect(caughtUp({ mode }, [window])).toMatchObject({ runs, rest })
  })

  it.each([
    // Nothing is on time, since the last stretch ended five minutes ago.
    { mode: 'skip', runs: [], rest: [['missed', 'catch-up:skip', 1, 5]] },
    { mode: 'latest', runs: [5], rest: [['collapsed', 'catch-up:latest', 1, 4]] },
    { mode: 'all', runs: [3, 4, 5], rest: [['missed', 'catch-up:max-runs', 1, 2]] },
  ] as const)('$mode where all are late', ({ mode, runs, rest }) => {
    expect(caughtUp({ mode }, [[0, 5]], 10)).toMatchObject({ runs, rest })
  })

  it('an instant exactly as old as the grace is on time, a millisecond older is late', () => {
    const policy = { mode: 'skip', graceMs: minute } as const
    expect(caughtUp(policy, [[0, 1]], 2).runs).toEqual([1])
    expect(caughtUp({ ...policy, graceMs: minute - 1 }, [[0, 1]], 2).runs).toEqual([])
  })

  it('a collapsed range names the run into which it was collapsed', () => {
    const { blockers } = caughtUp({ mode: 'latest' }, [[0, 5]], 10)
    expect(blockers).toEqual([triggerRunId(aDue().trigger, t0 + 5 * minute)])
  })
})

describe('bounds', () => {
  it.each([
    { mode: 'all', maxAge: 3, runs: [7, 8, 9, 10], rest: [['missed', 'catch-up:max-age', 1, 6]] },
    { mode: 'latest', maxAge: 3, runs: [9, 10], rest: [['collapsed', 'catch-up:latest', 1, 8]] },
  ] as const)('$mode no older than $maxAge minutes', ({ mode, maxAge, runs, rest }) => {
    expect(caughtUp({ mode, maxAgeMs: maxAge * minute, maxRuns: 9 }, [[0, 10]])).toMatchObject({ runs, rest })
  })

  it('the newest late one does not run either where it is too old', () => {
    const { runs, rest } = caughtUp({ mode: 'latest', maxAgeMs: 2 * minute }, [[0, 5]], 10)
    expect(runs).toEqual([])
    expect(rest).toEqual([['missed', 'catch-up:max-age', 1, 5]])
  })

  it('a year of downtime computes no more instants than an hour', () => {
    const asked = (minutes: number): number => {
      let count = 0
      const counted = {
        next: (after: number) => (count++, schedule.next(after)),
        previous: (before: number) => (count++, schedule.previous(before)),
      }
      const due = aDue({ catchUp: { mode: 'all', maxAgeMs: undefined, maxRuns: 10, graceMs: minute } })
      const until = t0 + minutes * minute
      catchUp({ due, schedule: counted, clear: [{ after: t0, until }], now: until })
      return count
    }
    expect(asked(525_600)).toBe(asked(60))
  })
})

describe('with held stretches in between', () => {
  it('each clear stretch has a range of its own, so none covers held instants', () => {
    const stretches = [
      [0, 3],
      [5, 8],
      [9, 10],
    ] as const
    const { runs, rest } = caughtUp({ mode: 'latest', graceMs: 0 }, stretches)
    expect(runs).toEqual([10])
    expect(rest).toEqual([
      ['collapsed', 'catch-up:latest', 1, 3],
      ['collapsed', 'catch-up:latest', 6, 8],
    ])
  })

  it('the newest late one may lie in an earlier stretch', () => {
    expect(caughtUp({ mode: 'latest', graceMs: 0 }, [[0, 3]], 30).runs).toEqual([3])
  })
})

describe('one-shots', () => {
  const at = t0 + minute
  const caught = (given: Partial<CatchUpPolicy>, now: number) => {
    const trigger: Partial<Trigger> = {
      schedule: { kind: 'once', at },
      catchUp: { mode: 'skip', maxAgeMs: undefined, maxRuns: 1, graceMs: 0, ...given },
    }
    return catchUp({
      due: aDue(trigger),
      schedule: onceSchedule(at),
      clear: [{ after: t0, until: now }],
      now,
    })
  }

  it('a one-shot is never late', () => {
    expect(caught({}, at + 365 * 24 * 60 * minute)).toEqual({ candidates: [at], ranges: [] })
  })

  it.each([
    { age: 5, runs: 1 },
    { age: 6, runs: 0 },
  ])('unless maxAge is five minutes: found after $age', ({ age, runs }) => {
    const { candidates, ranges } = caught({ maxAgeMs: 5 * minute, mode: 'latest' }, at + age * minute)
    expect(candidates).toHaveLength(runs)
    expect(ranges.map(({ rule }) => rule)).toEqual(runs === 1 ? [] : ['catch-up:max-age'])
  })
})

it('whatever the policy, each instant is a candidate or in one range', () => {
  const policies = fc.record({
    mode: fc.constantFrom('skip' as const, 'latest' as const, 'all' as const),
    maxAgeMs: fc.option(fc.integer({ min: 0, max: 20 * minute }), { nil: undefined }),
    maxRuns: fc.integer({ min: 1, max: 5 }),
    graceMs: fc.integer({ min: 0, max: 5 * minute }),
  })
  fc.assert(
    fc.property(
      policies,
      fc.integer({ min: 0, max: 20 }),
      fc.integer({ min: 0, max: 9 }),
      (policy, length, gap) => {
        const { runs, rest } = caughtUp(policy, [[0, length]], length + gap)
        for (let at = 1; at <= length; at++) {
          const places = rest.filter(
            ([, , first, last]) => (first as number) <= at && at <= (last as number),
          ).length
          expect(places + (runs.includes(at) ? 1 : 0)).toBe(1)
        }
        expect(runs).toEqual(runs.toSorted((a, b) => a - b))
      },
    ),
  )
})
