import { describe, expect, it } from 'vitest'
import { aDue, aHold, minute, t0 } from '../../../test/fixtures/due-trigger.js'
import type { DueTrigger, Trigger } from '../../kernel/trigger/trigger.js'
import { planAfterFinish } from './after-finish.js'

const inTime = { mode: 'all', maxAgeMs: undefined, maxRuns: 100, graceMs: minute } as const

describe('a tick of an after-finish trigger', () => {
  const everyMs = 10 * minute
  const chain = (given: Partial<DueTrigger> = {}, trigger: Partial<Trigger> = {}): DueTrigger =>
    aDue(
      { schedule: { kind: 'after-finish', everyMs }, overlap: 'skip', ...trigger },
      { nextAt: t0 + minute, ...given },
    )

  it('creates the run that is due, whose end sets the next instant', () => {
    const now = t0 + minute + 5
    const { runs, nextAt, chainRun, cursorAt } = planAfterFinish(chain(), now)
    expect(runs).toMatchObject([{ dueAt: t0 + minute, endEffect: 'chain', trigger: 't' }])
    expect([nextAt, chainRun, cursorAt]).toEqual([undefined, runs[0]?.id, t0 + minute])
  })

  it('G1: its id is derived from the previous run', () => {
    const idAfter = (chainRun: string | undefined) =>
      planAfterFinish(chain({ chainRun }), t0 + minute).chainRun
    expect(idAfter('a')).toBe(idAfter('a'))
    expect(idAfter('a')).not.toBe(idAfter('b'))
    expect(idAfter(undefined)).not.toBe(idAfter('a'))
  })

  it('G3: an instant without a run is recorded, and the chain continues from the tick', () => {
    const now = t0 + 60 * minute
    const { runs, ranges, nextAt } = planAfterFinish(chain({}, { catchUp: { ...inTime, mode: 'skip' } }), now)
    expect(runs).toEqual([])
    expect(ranges).toMatchObject([{ reason: 'missed', firstAt: t0 + minute, lastAt: t0 + minute }])
    expect(nextAt).toBe(now + everyMs)
  })

  it.each([
    { until: 30, nextAt: t0 + 30 * minute },
    { until: undefined, nextAt: undefined },
  ])(
    'during a pause until minute $until it is recorded as paused and continues at the end',
    ({ until, nextAt }) => {
      const tick = planAfterFinish(chain({ holds: [aHold('trigger:t', 0, until)] }), t0 + minute)
      expect(tick.runs).toEqual([])
      expect(tick.ranges).toMatchObject([{ reason: 'paused', firstAt: t0 + minute }])
      expect(tick.nextAt).toBe(nextAt)
    },
  )

  it('an instant before the pause still runs', () => {
    const tick = planAfterFinish(chain({ holds: [aHold('trigger:t', 1.5)] }), t0 + 1.6 * minute)
    expect(tick.runs).toMatchObject([{ dueAt: t0 + minute }])
  })

  it('a paused instant runs if the pause is released with catch-up', () => {
    const holds = [aHold('trigger:t', 0, 5, { catchUp: true })]
    expect(planAfterFinish(chain({ holds }), t0 + 5 * minute).runs).toHaveLength(1)
  })
})
