import { describe, expect, it } from 'vitest'
import {
  hour,
  minute,
  second,
  settle,
  Stage,
  t0,
  Work,
  type Cast,
} from '../../../test/fixtures/engine-stage.js'
import { defineTrigger } from '../../kernel/trigger/define-trigger.js'
import { isComplete } from '../../kernel/ledger/coverage.js'
import { coverageOf } from '../explain/coverage.js'
import { pastSchedules } from './past-schedules.js'
import { define, sync } from './sync.js'
import { timedKinds as kinds } from '../timed/kinds.js'

const nothing = (): undefined => undefined
type Triggers = NonNullable<Cast['triggers']>

async function staged(triggers: Triggers, options: Partial<Cast> = {}) {
  const stage = new Stage()
  const process = await stage.process({ jobs: { work: nothing }, triggers, ...options })
  const write = (next: Triggers) => process.redefine({ triggers: next })
  return { stage, process, write }
}

async function expectComplete(stage: Stage, name = 't'): Promise<void> {
  const coverage = await coverageOf(stage.store, await stage.trigger(name), { kinds })
  expect(coverage !== undefined && isComplete(coverage), JSON.stringify(coverage)).toBe(true)
}

const minutesOf = async (stage: Stage, name = 't'): Promise<number[]> =>
  (await stage.runs(name)).map((run) => (run.dueAt - t0) / minute)

it('a schedule whose last year is over is a fault of new triggers only', async () => {
  const schedule = { cron: '0 0 9 1 6 ? 2026' }
  const { stage } = await staged({ known: schedule, changed: { cron: '0 0 9 1 7 ? 2026' } })
  const triggers = ['known', 'changed', 'added'].map((name) =>
    defineTrigger(name, { job: 'work', ...schedule }),
  )
  expect(await pastSchedules(stage.store, triggers, t0)).toEqual([])
  const faults = await pastSchedules(stage.store, triggers, Date.UTC(2027, 0, 1))
  expect(faults.map(({ path }) => path)).toEqual(['triggers.changed.cron', 'triggers.added.cron'])
})

describe('a change of the schedule', () => {
  it('plans the old version up to now and opens a new one from there', async () => {
    const { stage, process, write } = await staged({ t: { cron: '*/10 * * * *', catchUp: 'skip' } })
    await process.engine.stop({ graceMs: 0 })
    await stage.pass(35 * minute)
    await write({ t: { cron: '*/15 * * * *', catchUp: 'skip' } })
    expect(await stage.trigger('t')).toMatchObject({
      version: 2,
      cursorAt: t0 + 35 * minute,
      nextAt: t0 + 45 * minute,
    })
    expect(await stage.ranges('t')).toMatchObject([
      { version: 1, firstAt: t0 + 10 * minute, lastAt: t0 + 30 * minute, reason: 'missed' },
    ])
    expect(await stage.store.versions('t')).toMatchObject([
      { version: 1, validFrom: t0, validUntil: t0 + 35 * minute },
      { version: 2, validFrom: t0 + 35 * minute, validUntil: undefined },
    ])
    await expectComplete(stage)
  })

  it('is picked up by a running engine at once', async () => {
    const { stage, write } = await staged({ t: { cron: '0 0 1 1 *' } })
    await stage.pass(10 * second)
    await write({ t: { cron: '* * * * * *' } })
    await stage.pass(3 * second)
    expect(await stage.runs('t')).toHaveLength(3)
    await expectComplete(stage)
  })

  it('keeps the anchor of an interval when its length changes', async () => {
    const { stage, write } = await staged({ t: { every: '10m' } })
    await stage.pass(12 * minute)
    await write({ t: { every: '7m' } })
    await stage.pass(30 * minute)
    expect(await minutesOf(stage)).toEqual([10, 14, 21, 28, 35, 42])
    await expectComplete(stage)
  })

  it('from a grid to after-finish and back accounts for both', async () => {
    const { stage, write } = await staged({ t: { every: '10m' } })
    await stage.pass(25 * minute)
    await write({ t: { every: '7m', after: 'finish' } })
    await stage.pass(25 * minute)
    await write({ t: { cron: '0 * * * *' } })
    await stage.pass(2 * hour)
    expect(await minutesOf(stage)).toEqual([10, 20, 32, 39, 46, 60, 120])
    await expectComplete(stage)
  })
})

describe('a change of policy or job', () => {
  it('does not touch the cursor', async () => {
    const { stage, process, write } = await staged({ t: { cron: '*/10 * * * *', catchUp: 'skip' } })
    await process.engine.stop({ graceMs: 0 })
    await stage.pass(35 * minute)
    const report = await write({ t: { cron: '*/10 * * * *', catchUp: 'all' } })
    expect(report).toEqual({ defined: [], changed: ['t'], ended: [], unchanged: 0 })
    expect(await stage.trigger('t')).toMatchObject({ version: 2, cursorAt: t0, nextAt: t0 + 10 * minute })
    expect(await stage.ranges('t')).toEqual([])
  })

  it('an unchanged definition is not written again', async () => {
    const { stage, write } = await staged({ t: { cron: '*/10 * * * *' } })
    const before = await stage.trigger('t')
    expect(await write({ t: { cron: '*/10 * * * *' } })).toEqual({
      defined: [],
      changed: [],
      ended: [],
      unchanged: 1,
    })
    expect(await stage.trigger('t')).toEqual(before)
  })
})

describe('vanishing and coming back', () => {
  it('stops the ticks, keeps the history, and starts again when it comes back', async () => {
    const { stage, write } = await staged({ t: { cron: '*/10 * * * *' } })
    await stage.pass(15 * minute)
    expect(await write({})).toMatchObject({ ended: ['t'] })
    await stage.pass(hour)
    expect(await minutesOf(stage)).toEqual([10])
    expect(await stage.trigger('t')).toMatchObject({ active: false, cursorAt: t0 + 15 * minute })
    await write({ t: { cron: '*/10 * * * *' } })
    await stage.pass(10 * minute)
    expect(await minutesOf(stage)).toEqual([10, 80])
    await expectComplete(stage)
  })

  it('a one-shot that was planned does not fire again, even if its run has been pruned', async () => {
    const at = new Date(t0 + minute)
    const { stage, write } = await staged({ t: { at } }, { retentionMs: minute })
    await stage.pass(3 * hour)
    expect(await stage.runs('t')).toEqual([])
    await write({})
    await stage.pass(minute)
    await write({ t: { at } })
    await stage.pass(minute)
    expect(await stage.runs('t')).toEqual([])
    await expectComplete(stage)
  })

  it('waiting runs of a vanished trigger are still performed', async () => {
    const work = new Work()
    const { stage, process } = await staged(
      { t: { cron: '* * * * *', overlap: 'queue-all' } },
      { jobs: { work: work.handler } },
    )
    await stage.pass(2 * minute)
    await process.redefine({ triggers: {} })
    await work.endAll()
    await work.endAll()
    expect((await stage.runs('t')).map((run) => run.state)).toEqual(['done', 'done'])
  })
})

describe('enabled: false', () => {
  it('does not tick; after enabling it starts from then, and instants before are not caught up', async () => {
    const { stage, write } = await staged({ t: { cron: '*/10 * * * *', enabled: false } })
    await stage.pass(25 * minute)
    expect(await stage.runs('t')).toEqual([])
    await write({ t: { cron: '*/10 * * * *' } })
    await stage.pass(10 * minute)
    expect(await minutesOf(stage)).toEqual([30])
    await write({ t: { cron: '*/10 * * * *', enabled: false } })
    await stage.pass(hour)
    expect(await minutesOf(stage)).toEqual([30])
    await expectComplete(stage)
  })
})

describe('sources', () => {
  it('one trigger name in two sources is an error that names both', async () => {
    const { stage, process } = await staged({ t: { cron: '* * * * *' } })
    const other = {
      name: 'config:other',
      jobs: [],
      queues: [],
      triggers: [defineTrigger('t', { job: 'work', every: '1h' })],
    }
    await expect(sync(process.store, other, { kinds, now: stage.clock.now() })).rejects.toMatchObject({
      code: 'DEFINITION_CONFLICT',
      message: expect.stringMatching(/config:other .* code:test/) as unknown,
    })
    expect((await stage.trigger('t')).source).toBe('code:test')
  })

  it('two processes that start at once write each definition once', async () => {
    const stage = new Stage()
    const cast: Cast = {
      jobs: { work: nothing },
      triggers: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`t${i}`, { every: `${i + 1}m` }])),
    }
    const processes = await Promise.all([stage.process(cast), stage.process(cast), stage.process(cast)])
    await settle()
    for (const trigger of await stage.store.triggers()) {
      expect(trigger).toMatchObject({ version: 1, active: true })
    }
    expect(processes.map((process) => process.of('trouble'))).toEqual([[], [], []])
  })

  it('a definition succeeds while a scheduler ticks all the time', async () => {
    const { stage } = await staged({ t: { cron: '* * * * * *' } })
    const racing = stage.pass(5 * second)
    for (let i = 0; i < 20; i++) {
      const trigger = defineTrigger('t', { job: 'work', cron: '* * * * * *', priority: i })
      await define(stage.store, { kinds, source: 'code:test', triggers: [trigger], now: stage.clock.now() })
    }
    await racing
    expect((await stage.runs('t')).length).toBe(5)
    await expectComplete(stage)
  })
})

describe('a clock that was set back', () => {
  it('a definition moves no cursor back', async () => {
    const { stage, process, write } = await staged({ t: { cron: '*/10 * * * *' } })
    await stage.pass(2 * hour)
    const before = await stage.trigger('t')
    stage.clock.step(-hour)
    expect(process.guard.now()).toBe(t0 + 2 * hour)
    await write({ t: { cron: '*/7 * * * *' } })
    expect((await stage.trigger('t')).cursorAt).toBeGreaterThanOrEqual(before.cursorAt)
    await write({})
    expect((await stage.trigger('t')).cursorAt).toBeGreaterThanOrEqual(before.cursorAt)
    await stage.pass(2 * hour)
    await expectComplete(stage)
  })
})

describe('a change that began before others planned', () => {
  it.each<[string, Triggers]>([
    ['a removed trigger', {}],
    ['a changed schedule', { t: { cron: '*/7 * * * *' } }],
    ['a trigger that is switched off', { t: { cron: '*/10 * * * *', enabled: false } }],
  ])('%s accounts for instants planned meanwhile', async (_, next) => {
    const { stage } = await staged({ t: { cron: '*/10 * * * *' } })
    await stage.pass(35 * minute)
    const { source, cursorAt } = await stage.trigger('t')
    const triggers = Object.entries(next).map(([name, one]) => defineTrigger(name, { job: 'work', ...one }))
    const began = { kinds, now: t0 + 25 * minute }
    await sync(stage.store, { name: source, jobs: [], queues: [], triggers }, began)
    expect((await stage.trigger('t')).cursorAt).toBeGreaterThanOrEqual(cursorAt)
    await stage.pass(hour)
    await expectComplete(stage)
  })
})

describe('the limits of queues', () => {
  const limit = { max: 6, perMs: minute, burst: 1 }
  const queue = (name: string) => ({ name, concurrency: 2, limit })
  const limitsOf = async (stage: Stage) =>
    (await stage.store.queues())
      .filter((one) => one.concurrency !== undefined || one.limit !== undefined)
      .map(({ name }) => name)
  const write = (stage: Stage, source: string, names: readonly string[]) =>
    sync(stage.store, { name: source, jobs: [], triggers: [], queues: names.map(queue) }, { kinds, now: t0 })

  it('are removed when their source drops them; those of another source stay', async () => {
    const stage = new Stage()
    await write(stage, 'config:a', ['mail', 'post'])
    await write(stage, 'config:b', ['post', 'other'])
    expect(await limitsOf(stage)).toEqual(['mail', 'other', 'post'])
    await write(stage, 'config:a', [])
    expect(await limitsOf(stage)).toEqual(['other', 'post'])
    await write(stage, 'config:b', ['other'])
    expect(await limitsOf(stage)).toEqual(['other'])
  })

  it('are removed at the next start if the process died before', async () => {
    const stage = new Stage()
    await write(stage, 'config:a', ['mail'])
    const dying = new Proxy(stage.store, {
      get: (store, key) => {
        const value: unknown = Reflect.get(store, key, store)
        if (key === 'defineJobs') return () => Promise.reject(new Error('killed'))
        return typeof value === 'function' ? (value as () => unknown).bind(store) : value
      },
    })
    const source = { name: 'config:a', jobs: [], triggers: [], queues: [queue('post')] }
    await expect(sync(dying, source, { kinds, now: t0 })).rejects.toThrow('killed')
    await write(stage, 'config:a', [])
    expect(await limitsOf(stage)).toEqual([])
    expect(await stage.store.stateEntries({ kind: 'queues', limit: 9 })).toEqual([])
  })
})
