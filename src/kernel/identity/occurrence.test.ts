import { describe, expect, it } from 'vitest'
import { aDue, minute, t0 } from '../../../test/fixtures/due-trigger.js'
import { jobDefaults } from '../job/job.js'
import { slotsFor, newTriggerRun, partitionAt, triggerRunId } from './occurrence.js'
import { instantOfRunId } from './identity.js'

describe('the run of a due instant', () => {
  it('has the options of its trigger and job', () => {
    const due = aDue({ payload: { a: 1 }, partition: 'day' }, { version: 7 })
    const run = newTriggerRun({ ...due, jobDefinition: { ...due.jobDefinition, priority: 3 } }, t0 + minute)
    expect(run).toEqual({
      id: triggerRunId(due.trigger, t0 + minute),
      job: 'work',
      origin: 'trigger',
      trigger: 't',
      version: 7,
      dueAt: t0 + minute,
      runAt: t0 + minute,
      priority: 3,
      partition: '2026-01-05',
      payload: { a: 1 },
      slots: [],
    })
  })

  it('has the priority of its trigger if that has one, even if it is 0', () => {
    const due = aDue({ priority: 0 })
    const run = newTriggerRun({ ...due, jobDefinition: { ...due.jobDefinition, priority: 3 } }, t0)
    expect(run.priority).toBe(0)
  })
})

describe('G1: the id of a run', () => {
  const { trigger } = aDue()
  it('depends on the trigger, the due instant and the partition', () => {
    const id = triggerRunId(trigger, t0)
    expect(triggerRunId({ ...trigger }, t0)).toBe(id)
    expect(instantOfRunId(id)).toBe(t0)
    const others = [
      triggerRunId({ ...trigger, name: 'u' }, t0),
      triggerRunId(trigger, t0 + 1),
      triggerRunId({ ...trigger, partition: 'day' }, t0),
    ]
    expect(new Set([id, ...others]).size).toBe(4)
  })

  it('does not depend on policy, payload, priority or version', () => {
    const changed = {
      ...trigger,
      payload: 1,
      overlap: 'skip',
      priority: 9,
      jitterMs: 5,
      job: 'other',
    } as const
    expect(triggerRunId(changed, t0)).toBe(triggerRunId(trigger, t0))
  })
})

describe('jitter and spread', () => {
  const instants = Array.from({ length: 20 }, (_, i) => t0 + i * minute)
  const delays = (given: { jitterMs?: number; spreadMs?: number; name?: string }) =>
    instants.map((at) => newTriggerRun(aDue(given), at).runAt - at)

  it('spread moves all runs of a trigger by one amount within its bound', () => {
    const [first = 0, ...rest] = delays({ spreadMs: 30_000 })
    expect(first).toBeGreaterThanOrEqual(0)
    expect(first).toBeLessThan(30_000)
    expect(rest.every((delay) => delay === first)).toBe(true)
    const others = Array.from({ length: 20 }, (_, i) => delays({ spreadMs: 30_000, name: `t${i}` })[0])
    expect(new Set(others).size).toBeGreaterThan(15)
  })

  it('jitter moves each run by its own amount within its bound, the same everywhere', () => {
    const moved = delays({ jitterMs: 10_000 })
    expect(moved.every((delay) => delay >= 0 && delay < 10_000 && Number.isInteger(delay))).toBe(true)
    expect(new Set(moved).size).toBeGreaterThan(15)
    expect(delays({ jitterMs: 10_000 })).toEqual(moved)
  })

  it('neither moves the due instant', () => {
    const run = newTriggerRun(aDue({ jitterMs: 999, spreadMs: 999 }), t0)
    expect(run.dueAt).toBe(t0)
    expect(run.id).toBe(triggerRunId(aDue().trigger, t0))
  })
})

describe('the concurrency limits of a run', () => {
  const job = { ...jobDefaults, name: 'work', concurrencyPerKey: 2 }
  const { trigger } = aDue()

  it.each([
    { what: 'nothing', input: { job }, slots: [] },
    { what: 'a trigger that allows overlap', input: { job, trigger }, slots: [] },
    {
      what: 'a limited job',
      input: { job: { ...job, concurrency: 4 }, trigger },
      slots: [{ key: 'job:work', limit: 4 }],
    },
    {
      what: 'a concurrency key',
      input: { job, concurrencyKey: 'k' },
      slots: [{ key: 'key:work=k', limit: 2 }],
    },
  ])('$what', ({ input, slots }) => {
    expect(slotsFor(input)).toEqual(slots)
  })

  it.each(['skip', 'queue-one', 'queue-all', 'cancel-running', 'terminate-running'] as const)(
    'G6: runs of a trigger with overlap %s share one slot',
    (overlap) => {
      expect(slotsFor({ job, trigger: { ...trigger, overlap } })).toEqual([{ key: 'trigger:t', limit: 1 }])
    },
  )
})

describe('the partition of a due instant', () => {
  it.each([
    { schedule: { kind: 'cron', expression: '0 1 * * *', timezone: 'Asia/Tokyo' }, label: '2026-01-05' },
    {
      schedule: { kind: 'cron', expression: '0 1 * * *', timezone: 'America/New_York' },
      label: '2026-01-04',
    },
    { schedule: { kind: 'interval', everyMs: 1 }, label: '2026-01-05' },
  ] as const)('is that of the zone of its schedule: $schedule.timezone', ({ schedule, label }) => {
    expect(partitionAt(aDue({ partition: 'day', schedule }).trigger, {}, t0)).toBe(label)
  })

  it('is undefined if the trigger has none', () => {
    expect(partitionAt(aDue().trigger, {}, t0)).toBeUndefined()
  })
})
