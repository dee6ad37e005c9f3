import { describe, expect, it } from 'vitest'
import {
  changed,
  day,
  hour,
  minute,
  second,
  Stage,
  t0,
  total,
  troubled,
  Work,
} from '../../../test/fixtures/engine-stage.js'
import { defineTrigger } from '../../kernel/trigger/define-trigger.js'
import { define } from '../sync/sync.js'
import { isComplete } from '../../kernel/ledger/coverage.js'
import { coverageOf } from '../explain/coverage.js'
import { timedKinds as kinds } from '../timed/kinds.js'

const nothing = (): undefined => undefined

describe('when a trigger fires', () => {
  it('cron: at the millisecond of each instant, once', async () => {
    const stage = new Stage()
    const begunAt: number[] = []
    await stage.process({
      jobs: { work: () => void begunAt.push(stage.clock.now()) },
      triggers: { t: { cron: '* * * * *' } },
    })
    await stage.pass(3 * minute)
    expect(begunAt).toEqual([t0 + minute, t0 + 2 * minute, t0 + 3 * minute])
    expect((await stage.runs('t')).map((run) => [run.dueAt, run.state])).toEqual(
      begunAt.map((at) => [at, 'done']),
    )
  })

  it('interval: on its grid, also where the definition falls between two seconds', async () => {
    const stage = new Stage()
    await stage.pass(137)
    await stage.process({ jobs: { work: nothing }, triggers: { t: { every: '250ms', immediate: true } } })
    await stage.pass(second)
    const offsets = (await stage.runs('t')).map((run) => run.dueAt - t0 - 137)
    expect(offsets).toEqual([0, 250, 500, 750, 1000])
  })

  it('once: at its instant, and never again', async () => {
    const stage = new Stage()
    await stage.process({ jobs: { work: nothing }, triggers: { t: { at: new Date(t0 + 90_001) } } })
    await stage.pass(90_000)
    expect(await stage.runs('t')).toEqual([])
    await stage.pass(1)
    expect((await stage.runs('t')).map((run) => run.startedAt)).toEqual([t0 + 90_001])
    await stage.pass(hour)
    expect(await stage.runs('t')).toHaveLength(1)
  })

  it('once: one that is overdue when it is defined is due immediately', async () => {
    const stage = new Stage()
    await stage.process({ jobs: { work: nothing }, triggers: { t: { at: new Date(t0 - 90 * day) } } })
    expect((await stage.runs('t')).map((run) => run.state)).toEqual(['done'])
  })

  it('after finish: one interval after the end of the previous run, however it ended', async () => {
    const stage = new Stage()
    const work = new Work()
    await stage.process({
      jobs: { work: work.handler },
      triggers: { t: { every: '10s', after: 'finish', immediate: true } },
    })
    expect(work.begun).toHaveLength(1)
    await stage.pass(7 * second)
    await work.end(0, { error: new Error('no') })
    await stage.pass(10 * second - 1)
    expect(work.begun).toHaveLength(1)
    await stage.pass(1)
    expect(work.begun.map((run) => run.dueAt.getTime())).toEqual([t0, t0 + 17 * second])
  })

  it('after finish: needs no hint from the store to be due at the exact millisecond', async () => {
    const stage = new Stage()
    const begunAt: number[] = []
    const silent = changed(stage.store, { watch: () => () => undefined })
    await stage.process({
      store: silent,
      jobs: { work: () => void begunAt.push(stage.clock.now() - t0) },
      triggers: { t: { every: '100ms', after: 'finish', immediate: true } },
    })
    await stage.pass(500)
    expect(begunAt).toEqual([0, 100, 200, 300, 400, 500])
  })

  it('jitter and spread delay the run, not its due instant, and lateness counts from the delay', async () => {
    const stage = new Stage()
    await stage.process({
      jobs: { work: nothing },
      triggers: { t: { cron: '0 * * * *', jitter: '10m', spread: '10m' } },
    })
    await stage.pass(2 * hour - 1)
    const [run] = await stage.runs('t')
    expect(run?.dueAt).toBe(t0 + hour)
    expect(run?.runAt).toBeGreaterThan(t0 + hour)
    expect(run?.startedAt).toBe(run?.runAt)
  })
})

describe('instants missed while no scheduler ran', () => {
  async function afterDowntime(catchUp: 'skip' | 'latest' | 'all', downMs: number) {
    const stage = new Stage()
    const cast = {
      jobs: { work: nothing },
      triggers: { t: { cron: '*/10 * * * *', catchUp, overlap: 'queue-all' as const } },
    }
    const before = await stage.process(cast)
    await before.engine.stop({ graceMs: 0 })
    await stage.pass(downMs)
    const after = await stage.process(cast)
    await stage.pass(0)
    return { stage, after, runs: await stage.runs('t'), ranges: await stage.ranges('t') }
  }

  it('skip: all of them are one range with that reason', async () => {
    const { runs, ranges } = await afterDowntime('skip', 65 * minute)
    expect(runs).toEqual([])
    expect(ranges).toMatchObject([
      { firstAt: t0 + 10 * minute, lastAt: t0 + 60 * minute, reason: 'missed', rule: 'catch-up:skip' },
    ])
  })

  it('latest: the newest runs, the others are collapsed into it', async () => {
    const { runs, ranges } = await afterDowntime('latest', 65 * minute)
    expect(runs.map((run) => run.dueAt)).toEqual([t0 + 60 * minute])
    expect(ranges).toMatchObject([
      { firstAt: t0 + 10 * minute, lastAt: t0 + 50 * minute, reason: 'collapsed', blocker: runs[0]?.id },
    ])
  })

  it('all: every one runs, oldest first', async () => {
    const { runs, ranges } = await afterDowntime('all', 65 * minute)
    expect(runs.map((run) => (run.dueAt - t0) / minute)).toEqual([10, 20, 30, 40, 50, 60])
    expect(ranges).toEqual([])
  })

  it.each(['skip', 'latest', 'all'] as const)('%s: an instant within the grace is on time', async (mode) => {
    const { runs } = await afterDowntime(mode, 10 * minute + 59 * second)
    expect(runs.map((run) => run.dueAt)).toEqual([t0 + 10 * minute])
  })

  it('a year without a scheduler costs a per-second trigger one short tick and one row', async () => {
    const stage = new Stage()
    const catchUp = { mode: 'skip' as const, grace: 0 }
    const cast = { jobs: { work: nothing }, triggers: { t: { cron: '* * * * * *', catchUp } } }
    const first = await stage.process(cast)
    await first.engine.stop({ graceMs: 0 })
    await stage.pass(365 * day)
    const before = process.cpuUsage()
    const after = await stage.process(cast)
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(100)
    expect(after.of('tick')).toHaveLength(1)
    expect(await stage.runs('t')).toHaveLength(1)
    expect(await stage.ranges('t')).toHaveLength(1)
  })
})

describe('many schedulers', () => {
  it('G2: two schedulers that race record every instant once, and neither fails', async () => {
    const stage = new Stage()
    const cast = {
      jobs: { work: nothing },
      triggers: { a: { cron: '* * * * * *' }, b: { every: '700ms', overlap: 'allow' as const } },
    }
    const processes = [await stage.process(cast), await stage.process(cast), await stage.process(cast)]
    await stage.pass(20 * second)
    const dueAt = (await stage.runs('a')).map((run) => run.dueAt)
    expect(dueAt).toEqual(Array.from({ length: 20 }, (_, index) => t0 + (index + 1) * second))
    expect(await stage.runs('b')).toHaveLength(28)
    expect(processes.flatMap((process) => process.of('trouble'))).toEqual([])
    for (const name of ['a', 'b']) {
      const coverage = await coverageOf(stage.store, await stage.trigger(name), { kinds })
      expect(coverage !== undefined && isComplete(coverage)).toBe(true)
    }
  })
})

describe('a trigger that cannot be evaluated', () => {
  async function broken(count: number) {
    const stage = new Stage()
    const begunAt: number[] = []
    const process = await stage.process({
      jobs: { work: () => void begunAt.push(stage.clock.now() - t0) },
      triggers: { good: { cron: '* * * * * *' } },
    })
    const triggers = Array.from({ length: count }, (_, index) =>
      defineTrigger(`bad-${index}`, { job: 'work', every: '1s' }),
    )
    await define(stage.store, { kinds, source: 'api', triggers, now: stage.clock.now() })
    for (const [name, row] of stage.tables.triggers) {
      if (!name.startsWith('bad')) continue
      row.trigger = { ...row.trigger, schedule: { kind: 'cron', expression: 'nonsense', timezone: 'UTC' } }
    }
    return { stage, process, begunAt }
  }

  it('is reported from time to time, and the others keep firing at their millisecond', async () => {
    const { stage, process, begunAt } = await broken(3)
    await stage.pass(2 * minute)
    expect(begunAt).toEqual(Array.from({ length: 120 }, (_, index) => (index + 1) * second))
    expect(process.of('trouble')).toHaveLength(6)
    expect(process.of('trouble')[0]).toMatchObject({ where: 'trigger bad-0' })
  })

  it('does not stop the others even if there are more of them than one read returns', async () => {
    const { stage, begunAt } = await broken(1200)
    await stage.pass(5 * second)
    expect(begunAt).toEqual([1000, 2000, 3000, 4000, 5000])
  })

  it('continues once its definition is repaired', async () => {
    const { stage } = await broken(1)
    await stage.pass(5 * second)
    const repaired = defineTrigger('bad-0', { job: 'work', cron: '* * * * * *' })
    await define(stage.store, { kinds, source: 'api', triggers: [repaired], now: stage.clock.now() }).catch(
      () => 0,
    )
    const row = stage.tables.triggers.get('bad-0')
    if (row !== undefined) row.trigger = { ...row.trigger, schedule: repaired.schedule }
    await stage.pass(2 * minute)
    expect((await stage.runs('bad-0')).length).toBeGreaterThan(0)
  })
})

describe('rest', () => {
  it('an idle process calls the store only a few times per poll', async () => {
    const stage = new Stage()
    const { store, calls } = troubled(stage.store)
    await stage.process({ store, jobs: { work: nothing }, triggers: { t: { cron: '0 0 1 1 *' } } })
    await stage.pass(minute)
    calls.clear()
    await stage.pass(hour)
    // Two reads of the scheduler and two calls of the worker in two seconds, one of upkeep in five, heartbeats.
    expect(total(calls)).toBeLessThanOrEqual(4 * 1800 + 720 + 360 + 10)
  })

  it.each([
    ['paused', (stage: Stage) => stage.store.hold({ target: 'trigger:t', now: t0, actor: 'me', note: '' })],
    ['frozen', (stage: Stage) => stage.store.hold({ target: 'all', now: t0, actor: 'me', note: '' })],
    [
      'of a queue that is held',
      (s: Stage) => s.store.hold({ target: 'queue:default', now: t0, actor: 'me', note: '' }),
    ],
    ['under a clock that was set back', async (stage: Stage) => stage.clock.step(-3 * hour)],
    ['under a clock that jumped ahead', async (stage: Stage) => stage.clock.step(3 * hour)],
    ['under a clock that is not accepted', async (stage: Stage) => stage.clock.step(800 * day)],
  ])('a process whose trigger is %s does not spin', async (_, meddle) => {
    const stage = new Stage()
    const { store, calls } = troubled(stage.store)
    await stage.process({
      store,
      jobs: {
        work: { handler: () => Promise.reject(new Error('no')), retry: { attempts: 1000, delay: '1s' } },
      },
      triggers: { t: { cron: '*/10 * * * * *' } },
    })
    await stage.pass(11 * second)
    await meddle(stage)
    await stage.pass(minute)
    calls.clear()
    await stage.pass(10 * minute)
    expect(total(calls)).toBeLessThanOrEqual(2500)
  })
})
