import { describe, expect, it } from 'vitest'
import { hour, minute, second, settle, Stage, t0, Work } from '../../../test/fixtures/engine-stage.js'
import type { HoldTarget } from '../../kernel/hold/hold.js'
import { isComplete } from '../../kernel/ledger/coverage.js'
import { coverageOf } from '../explain/coverage.js'
import { timedKinds as kinds } from '../timed/kinds.js'

async function ticking(catchUp: 'latest' | 'all' = 'latest') {
  const stage = new Stage()
  const triggers = { t: { cron: '*/10 * * * *', catchUp, overlap: 'queue-all' as const } }
  await stage.process({ jobs: { work: () => undefined }, triggers })
  await stage.pass(5 * minute)
  return stage
}

async function hold(stage: Stage, target: HoldTarget, untilMs?: number): Promise<void> {
  const now = stage.clock.now()
  const untilAt = untilMs === undefined ? undefined : now + untilMs
  expect(await stage.store.hold({ target, now, untilAt, actor: 'ann', note: 'works' })).toBe('held')
  await settle()
}

async function release(stage: Stage, target: HoldTarget, catchUp = false): Promise<void> {
  expect(await stage.store.release({ target, now: stage.clock.now(), catchUp })).toBe('released')
  await settle()
}

const minutesOf = async (stage: Stage): Promise<number[]> =>
  (await stage.runs('t')).map((run) => (run.dueAt - t0) / minute)

async function expectComplete(stage: Stage): Promise<void> {
  const coverage = await coverageOf(stage.store, await stage.trigger('t'), { kinds })
  expect(coverage).toMatchObject({ unexplainedCount: 0, unexpectedCount: 0 })
  expect(coverage !== undefined && isComplete(coverage)).toBe(true)
}

const cases: [string, HoldTarget, string][] = [
  ['a pause', 'trigger:t', 'paused'],
  ['a freeze', 'all', 'frozen'],
  ['the pipeline switch', 'switch:pipeline', 'switch'],
  ['the scheduler switch', 'switch:scheduler', 'switch'],
]

describe.each(cases)('%s', (_, target, reason) => {
  it('stops the ticks, and its end creates no runs: the range names who and why', async () => {
    const stage = await ticking()
    await hold(stage, target)
    await stage.pass(hour)
    expect(await minutesOf(stage)).toEqual([])
    await release(stage, target)
    await stage.pass(10 * minute)
    expect(await minutesOf(stage)).toEqual([70])
    expect(await stage.ranges('t')).toMatchObject([
      { firstAt: t0 + 10 * minute, lastAt: t0 + hour, reason, rule: 'hold', detail: 'ann: works' },
    ])
    await expectComplete(stage)
  })

  it('released with catch-up, the catch-up policy of the trigger decides about its range', async () => {
    const stage = await ticking('all')
    await hold(stage, target)
    await stage.pass(hour)
    await release(stage, target, true)
    await stage.pass(0)
    expect(await minutesOf(stage)).toEqual([10, 20, 30, 40, 50, 60])
    await expectComplete(stage)
  })

  it('with an end, it ends automatically at that instant', async () => {
    const stage = await ticking()
    await hold(stage, target, 25 * minute)
    await stage.passTo(t0 + 30 * minute)
    expect(await minutesOf(stage)).toEqual([30])
    expect((await stage.runs('t'))[0]?.startedAt).toBe(t0 + 30 * minute)
    expect(await stage.ranges('t')).toMatchObject([
      { firstAt: t0 + 10 * minute, lastAt: t0 + 20 * minute, reason },
    ])
    await expectComplete(stage)
  })
})

describe('what runs', () => {
  it.each(['all', 'switch:pipeline', 'switch:worker', 'queue:default'] as const)(
    '%s stops claims, what runs goes on, and its end lets them begin',
    async (target) => {
      const stage = new Stage()
      const work = new Work()
      await stage.process({ jobs: { work: work.handler }, concurrency: 1 })
      const run = { job: 'work', origin: 'enqueue' as const, dueAt: t0, runAt: t0, priority: 0, slots: [] }
      const runs = ['a', 'b'].map((letter) => ({ ...run, id: letter.repeat(36) }))
      await stage.store.enqueue({ runs, now: t0 })
      await settle()
      await hold(stage, target)
      await work.end(0)
      await stage.pass(minute)
      expect((await stage.runs()).map((one) => one.state)).toEqual(['done', 'pending'])
      await release(stage, target)
      expect(work.begun).toHaveLength(2)
    },
  )

  it('runs of a queue that is held until an instant are claimed soon after it', async () => {
    const stage = new Stage()
    const work = new Work()
    await stage.process({ jobs: { work: work.handler } })
    await hold(stage, 'queue:default', 10 * second)
    const run = { job: 'work', origin: 'enqueue' as const, dueAt: t0, runAt: t0, priority: 0, slots: [] }
    await stage.store.enqueue({ runs: [{ ...run, id: 'a'.repeat(36) }], now: t0 })
    await stage.pass(10 * second - 1)
    expect(work.begun).toHaveLength(0)
    await stage.pass(2 * second + 1)
    expect(work.begun).toHaveLength(1)
  })
})

describe('an interval measured from the end of a run', () => {
  it.each<HoldTarget>(['trigger:t', 'all'])('continues after %s was held and released', async (target) => {
    const stage = new Stage()
    const triggers = { t: { every: '10m', after: 'finish' as const } }
    await stage.process({ jobs: { work: () => undefined }, triggers })
    await stage.pass(10 * minute)
    await hold(stage, target)
    await stage.pass(hour)
    expect(await minutesOf(stage)).toEqual([10])
    await release(stage, target)
    await stage.pass(hour)
    expect((await stage.runs('t')).length).toBeGreaterThan(3)
  })
})
