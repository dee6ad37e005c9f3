import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aDue, aHold, minute, minutesOf, t0 } from '../../../test/fixtures/due-trigger.js'
import type { Instant } from '../../time/instant.js'
import type { Hold } from '../hold/hold.js'
import { triggerRunId } from '../identity/occurrence.js'
import { scheduleOf, type ScheduleSpec } from '../trigger/schedule.js'
import { planTick, type Tick } from './tick.js'
import type { DueTrigger, OverlapPolicy, Trigger, UnfinishedRun } from '../trigger/trigger.js'

const inTime = { mode: 'all', maxAgeMs: undefined, maxRuns: 100, graceMs: minute } as const

describe('a tick of a timed trigger', () => {
  it('plans the instants after the cursor, up to now, and moves the cursor to now', () => {
    const now = t0 + 3 * minute
    const tick = planTick(aDue({ catchUp: inTime }, { revision: 8 }), now)
    expect(tick.runs.map(({ dueAt }) => minutesOf(dueAt))).toEqual([1, 2, 3])
    expect(tick).toMatchObject({
      trigger: 't',
      revision: 8,
      at: now,
      cursorAt: now,
      nextAt: now + minute,
      ranges: [],
    })
  })

  it('that finds nothing due only moves the cursor', () => {
    const now = t0 + minute - 1
    expect(planTick(aDue(), now)).toMatchObject({ runs: [], ranges: [], cursorAt: now, nextAt: t0 + minute })
  })

  it('has no next look after the last due instant', () => {
    const tick = planTick(aDue({ schedule: { kind: 'once', at: t0 + 1 } }), t0 + 5)
    expect(tick.runs).toHaveLength(1)
    expect(tick.nextAt).toBeUndefined()
  })

  it.each([
    { back: 1, next: 6 },
    { back: 4.5, next: 6 },
  ])(
    'under a clock $back minutes behind the cursor plans nothing and waits for the cursor',
    ({ back, next }) => {
      const cursorAt = t0 + 5 * minute
      const tick = planTick(aDue({}, { cursorAt }), cursorAt - back * minute)
      expect(tick).toMatchObject({ runs: [], ranges: [], cursorAt, nextAt: t0 + next * minute })
    },
  )

  it('during a pause is planned again at the first instant after its end, or never', () => {
    const now = t0 + 2 * minute
    const withEnd = planTick(aDue({}, { holds: [aHold('trigger:t', 1, 7)] }), now)
    expect([withEnd.runs.length, withEnd.nextAt]).toEqual([0, t0 + 7 * minute])
    const open = planTick(aDue({}, { holds: [aHold('trigger:t', 1)] }), now)
    expect([open.runs.length, open.nextAt]).toEqual([0, undefined])
    expect(open.ranges).toMatchObject([{ reason: 'paused', firstAt: t0 + minute, lastAt: now }])
  })

  it('instants collapsed into one that is skipped by overlap are skipped by overlap, too', () => {
    const unfinished: UnfinishedRun[] = [{ id: 'blocker', state: 'running' }]
    const due = aDue({ overlap: 'skip', catchUp: { ...inTime, mode: 'latest', graceMs: 0 } }, { unfinished })
    const { runs, ranges } = planTick(due, t0 + 5 * minute)
    expect(runs).toEqual([])
    const places = ranges.map(({ reason, rule, blocker, firstAt, lastAt }) => {
      return [reason, rule, blocker, minutesOf(firstAt), minutesOf(lastAt)]
    })
    expect(places).toEqual([
      ['overlap', 'overlap:skip', 'blocker', 1, 4],
      ['overlap', 'overlap:skip', 'blocker', 5, 5],
    ])
  })

  it('the first match gives the reason: hold, then catch-up, then overlap', () => {
    const due = aDue(
      { overlap: 'skip', catchUp: { ...inTime, mode: 'skip' } },
      { holds: [aHold('all', 1, 3)], unfinished: [{ id: 'x', state: 'running' }] },
    )
    const { runs, ranges } = planTick(due, t0 + 6 * minute)
    expect(runs).toEqual([])
    expect(
      ranges.map(({ reason, firstAt, lastAt }) => [reason, minutesOf(firstAt), minutesOf(lastAt)]),
    ).toEqual([
      ['frozen', 1, 2],
      ['missed', 3, 4],
      ['overlap', 5, 6],
    ])
  })
})

const schedules = fc.constantFrom<ScheduleSpec>(
  { kind: 'interval', everyMs: minute, anchorAt: t0 },
  {
    kind: 'interval',
    everyMs: 7 * minute,
    anchorAt: t0 - 3,
    startAt: t0 + 9 * minute,
    endAt: t0 + 50 * minute,
  },
  { kind: 'cron', expression: '*/5 * * * *', timezone: 'UTC' },
  { kind: 'cron', expression: '3,4,17 * * * *', timezone: 'Asia/Kolkata' },
  { kind: 'once', at: t0 + 11 * minute },
)
const overlaps: readonly OverlapPolicy[] = [
  'allow',
  'skip',
  'queue-one',
  'queue-all',
  'cancel-running',
  'terminate-running',
]
const triggers: fc.Arbitrary<Partial<Trigger>> = fc.record({
  schedule: schedules,
  overlap: fc.constantFrom(...overlaps),
  catchUp: fc.record({
    mode: fc.constantFrom('skip' as const, 'latest' as const, 'all' as const),
    maxAgeMs: fc.option(fc.integer({ min: 0, max: 60 * minute }), { nil: undefined }),
    maxRuns: fc.integer({ min: 1, max: 20 }),
    graceMs: fc.constantFrom(0, 1, minute, 10 * minute),
  }),
})
const holds: fc.Arbitrary<readonly Hold[]> = fc.array(
  fc
    .tuple(
      fc.constantFrom('trigger:t' as const, 'all' as const, 'switch:scheduler' as const),
      fc.integer({ min: -10, max: 130 }),
      fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined }),
      fc.boolean(),
    )
    .map(([target, from, length, catchUp]) => {
      const until = length === undefined ? undefined : (from + length) / 2
      return aHold(target, from / 2, until, { catchUp: catchUp && length !== undefined })
    }),
  { maxLength: 4 },
)
const unfinished: fc.Arbitrary<readonly UnfinishedRun[]> = fc.subarray([
  { id: 'x', state: 'running' },
  { id: 'y', state: 'pending' },
])
const windows = fc.integer({ min: 0, max: 70 * minute })

describe('G2, G3: whatever the schedule, the policies and the holds', () => {
  it('each due instant of the window is one run or lies in one range, and nothing else does', () => {
    fc.assert(
      fc.property(triggers, holds, unfinished, windows, (trigger, holds, unfinished, length) => {
        const due = aDue(trigger, { holds, unfinished })
        const now = t0 + length
        expect(covered(due, [planTick(due, now)], now)).toEqual(instantsOf(due, now))
      }),
      { numRuns: 500 },
    )
  })

  it('planning in steps covers the same instants as planning once', () => {
    fc.assert(
      fc.property(
        triggers,
        holds,
        fc.array(windows, { minLength: 1, maxLength: 5 }),
        (trigger, holds, cuts) => {
          const due = aDue(trigger, { holds })
          const steps = cuts.toSorted((a, b) => a - b).map((cut) => t0 + cut)
          const now = steps.at(-1) as Instant
          expect(covered(due, planInSteps(due, steps), now)).toEqual(instantsOf(due, now))
        },
      ),
      { numRuns: 300 },
    )
  })

  it('G1: two processes plan the same tick, and a run has the id of its instant', () => {
    fc.assert(
      fc.property(triggers, holds, unfinished, windows, (trigger, holds, unfinished, length) => {
        const due = aDue(trigger, { holds, unfinished })
        const tick = planTick(due, t0 + length)
        expect(planTick(structuredClone(due), t0 + length)).toEqual(tick)
        expect(tick.runs.map(({ id }) => id)).toEqual(
          tick.runs.map(({ dueAt }) => triggerRunId(due.trigger, dueAt)),
        )
        expect(tick.runs.map(({ dueAt }) => dueAt)).toEqual(
          tick.runs.map(({ dueAt }) => dueAt).toSorted((a, b) => a - b),
        )
      }),
    )
  })

  it('the next look is later than the cursor', () => {
    fc.assert(
      fc.property(triggers, holds, windows, windows, (trigger, holds, cursor, length) => {
        const tick = planTick(aDue(trigger, { holds, cursorAt: t0 + cursor }), t0 + length)
        if (tick.nextAt !== undefined) expect(tick.nextAt).toBeGreaterThan(tick.cursorAt)
      }),
    )
  })
})

function planInSteps(due: DueTrigger, steps: readonly Instant[]): Tick[] {
  const ticks: Tick[] = []
  let { cursorAt } = due
  for (const now of steps) {
    const tick = planTick({ ...due, cursorAt }, now)
    ticks.push(tick)
    cursorAt = tick.cursorAt
  }
  return ticks
}

function instantsOf(due: DueTrigger, now: Instant): Instant[] {
  const schedule = scheduleOf(due.trigger.schedule)
  const instants: Instant[] = []
  for (let at = schedule.next(due.cursorAt); at !== undefined && at <= now; at = schedule.next(at))
    instants.push(at)
  return instants
}

/** Every due instant as often as it is covered; other instants of a range do not count. */
function covered(due: DueTrigger, ticks: readonly Tick[], now: Instant): Instant[] {
  const all = instantsOf({ ...due, cursorAt: t0 - 100 * minute }, now + 100 * minute)
  return ticks
    .flatMap(({ runs, ranges }) => [
      ...runs.map(({ dueAt }) => dueAt),
      ...ranges.flatMap(({ firstAt, lastAt }) => all.filter((at) => firstAt <= at && at <= lastAt)),
    ])
    .toSorted((a, b) => a - b)
}
