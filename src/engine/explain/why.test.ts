import { describe, expect, it } from 'vitest'
import {
  day,
  enqueue,
  hour,
  minute,
  second,
  Stage,
  t0,
  Work,
  type Cast,
} from '../../../test/fixtures/engine-stage.js'
import { defineJob } from '../../kernel/job/define-job.js'
import { defineTrigger } from '../../kernel/trigger/define-trigger.js'
import { sync } from '../sync/sync.js'
import { why, type Explanation } from './why.js'
import { timedKinds as kinds } from '../timed/kinds.js'

async function staged(triggers: NonNullable<Cast['triggers']>, options: Partial<Cast> = {}) {
  const stage = new Stage()
  const process = await stage.process({ jobs: { work: () => undefined }, triggers, ...options })
  const ask = async (from: number, until = from): Promise<readonly Explanation[]> => {
    const window = { fromAt: t0 + from * minute, untilAt: t0 + until * minute }
    return (await why(stage.store, { kinds, trigger: 't', ...window, now: stage.clock.now() })).explanations
  }
  return { stage, process, ask }
}

describe('the explanation of an instant', () => {
  it('it became a run', async () => {
    const { stage, ask } = await staged({ t: { cron: '*/10 * * * *' } })
    await stage.pass(15 * minute)
    expect(await ask(10)).toMatchObject([{ kind: 'run', at: t0 + 10 * minute, run: { state: 'done' } }])
  })

  it('it overlapped an unfinished run, which is named', async () => {
    const work = new Work()
    const { stage, ask } = await staged({ t: { cron: '*/10 * * * *' } }, { jobs: { work: work.handler } })
    await stage.pass(25 * minute)
    expect(await ask(20)).toMatchObject([
      {
        kind: 'range',
        range: { reason: 'overlap', rule: 'overlap:skip' },
        blocker: { id: work.begun[0]?.id },
      },
    ])
  })

  it('it was missed with others: the range is listed once', async () => {
    const { stage, process, ask } = await staged({ t: { cron: '*/10 * * * *', catchUp: 'skip' } })
    await process.engine.stop({ graceMs: 0 })
    await stage.pass(65 * minute)
    await stage.process({
      jobs: { work: () => undefined },
      triggers: { t: { cron: '*/10 * * * *', catchUp: 'skip' } },
    })
    await stage.pass(10 * minute)
    expect(await ask(0, 80)).toMatchObject([
      { kind: 'range', range: { firstAt: t0 + 10 * minute, lastAt: t0 + 60 * minute, reason: 'missed' } },
      { kind: 'run', at: t0 + 70 * minute },
      { kind: 'future', at: t0 + 80 * minute },
    ])
  })

  it('it is in the future', async () => {
    const { ask } = await staged({ t: { cron: '*/10 * * * *' } })
    expect(await ask(30)).toEqual([{ kind: 'future', at: t0 + 30 * minute }])
  })

  it('it waits because no scheduler runs', async () => {
    const { stage, process, ask } = await staged({ t: { cron: '*/10 * * * *' } })
    await process.engine.stop({ graceMs: 0 })
    await stage.pass(15 * minute)
    expect(await ask(10)).toEqual([
      { kind: 'waiting', at: t0 + 10 * minute, hold: undefined, lastSignAt: t0 },
    ])
  })

  it('its trigger is paused: all instants since then are one answer, which names who paused it', async () => {
    const { stage, ask } = await staged({ t: { cron: '*/10 * * * *' } })
    await stage.pass(15 * minute)
    await stage.store.hold({ target: 'trigger:t', now: stage.clock.now(), actor: 'ann', note: 'works' })
    await stage.pass(60 * minute)
    expect(await ask(0, 80)).toMatchObject([
      { kind: 'run', at: t0 + 10 * minute },
      {
        kind: 'held',
        at: t0 + 20 * minute,
        lastAt: t0 + 70 * minute,
        hold: { target: 'trigger:t', actor: 'ann', note: 'works' },
      },
      { kind: 'future', at: t0 + 80 * minute },
    ])
  })

  it('it was due before planning was held and was not planned in time', async () => {
    const { stage, process, ask } = await staged({ t: { cron: '*/10 * * * *' } })
    await process.engine.stop({ graceMs: 0 })
    await stage.pass(15 * minute)
    await stage.store.hold({ target: 'all', now: stage.clock.now(), actor: 'ann', note: '' })
    await stage.pass(10 * minute)
    expect(await ask(0, 25)).toMatchObject([
      { kind: 'waiting', at: t0 + 10 * minute, hold: { target: 'all' } },
      { kind: 'held', at: t0 + 20 * minute, hold: { target: 'all' } },
    ])
  })

  it('nothing was running then: the last sign of life of an engine is shown, not that of an enqueue', async () => {
    const triggers = { t: { cron: '*/10 * * * *', catchUp: 'skip' as const } }
    const { stage, process, ask } = await staged(triggers)
    await stage.pass(15 * minute)
    await process.engine.stop({ graceMs: 0 })
    await stage.pass(10 * minute)
    await enqueue(stage, ['by hand'])
    expect(await ask(20)).toMatchObject([{ kind: 'waiting', lastSignAt: t0 + 15 * minute }])
    await stage.pass(40 * minute)
    await stage.process({ jobs: { work: () => undefined }, triggers })
    await stage.pass(1 * minute)
    expect(await ask(20)).toMatchObject([
      { kind: 'range', range: { reason: 'missed' }, lastSignAt: t0 + 15 * minute },
    ])
  })

  it('a plan by a command while nothing runs is not a sign of life', async () => {
    const { stage, process, ask } = await staged({ t: { cron: '*/10 * * * *' } })
    await stage.pass(15 * minute)
    process.kill()
    await stage.pass(20 * minute)
    const jobs = [defineJob('work', { handler: () => undefined })]
    const triggers = [defineTrigger('t', { job: 'work', cron: '*/5 * * * *' })]
    await sync(
      stage.store,
      { name: 'code:test', jobs, queues: [], triggers },
      { kinds, now: stage.clock.now() },
    )
    expect((await stage.runs('t')).map(({ createdAt }) => createdAt)).toContain(t0 + 35 * minute)
    await stage.pass(10 * minute)
    expect(await ask(40)).toMatchObject([{ kind: 'waiting', lastSignAt: t0 + 15 * minute }])
  })

  it('the machine slept: the last sign of life is the last plan before', async () => {
    const triggers = { t: { cron: '*/10 * * * *', catchUp: 'skip' as const } }
    const { stage, ask } = await staged(triggers)
    await stage.pass(15 * minute)
    stage.clock.step(50 * minute)
    await stage.pass(20 * second)
    expect(await ask(20)).toMatchObject([
      { kind: 'range', range: { reason: 'missed' }, lastSignAt: t0 + 10 * minute },
    ])
  })

  it('nothing was due then: the nearest instants are named', async () => {
    const { stage, ask } = await staged({ t: { cron: '*/10 * * * *' } })
    await stage.pass(15 * minute)
    expect(await ask(13)).toEqual([
      { kind: 'not-due', at: t0 + 13 * minute, beforeAt: t0 + 10 * minute, afterAt: t0 + 20 * minute },
    ])
  })

  it('the trigger was not defined then', async () => {
    const { stage, process, ask } = await staged({ t: { cron: '*/10 * * * *' } })
    expect(await ask(-10)).toMatchObject([{ kind: 'not-defined', definedAt: t0, endedAt: undefined }])
    await stage.pass(15 * minute)
    await process.redefine({ triggers: {} })
    await stage.pass(hour)
    expect(await ask(40)).toMatchObject([{ kind: 'not-defined', definedAt: t0, endedAt: t0 + 15 * minute }])
  })

  it('it has no record, and the answer says so', async () => {
    const { stage, ask } = await staged({ t: { cron: '*/10 * * * *' } })
    await stage.pass(15 * minute)
    const runs = stage.tables.runsByTrigger.get('t')
    const [lost] = runs?.own ?? []
    if (lost !== undefined) {
      runs?.own.delete(lost)
      runs?.all.delete(lost)
    }
    expect(await ask(10)).toEqual([{ kind: 'unexplained', at: t0 + 10 * minute }])
  })

  it('a chain is explained by its runs and its next due instant', async () => {
    const { stage, ask } = await staged({ t: { every: '10m', after: 'finish' } })
    await stage.pass(25 * minute)
    expect(await ask(0, 60)).toMatchObject([
      { kind: 'run', at: t0 + 10 * minute },
      { kind: 'run', at: t0 + 20 * minute },
      { kind: 'future', at: t0 + 30 * minute },
    ])
  })
})

describe('the answer', () => {
  it('lists manual runs in addition to the trigger’s own', async () => {
    const { stage } = await staged({ t: { cron: '*/10 * * * *' } })
    await stage.pass(15 * minute)
    const run = { job: 'work', origin: 'manual' as const, trigger: 't', dueAt: t0 + 12 * minute, priority: 0 }
    await stage.store.enqueue({ runs: [{ ...run, id: '01'.repeat(18), runAt: t0, slots: [] }], now: t0 })
    const window = { fromAt: t0, untilAt: t0 + 15 * minute }
    const answer = await why(stage.store, { kinds, trigger: 't', ...window, now: stage.clock.now() })
    expect(answer.beside.map((one) => one.origin)).toEqual(['manual'])
    expect(answer.explanations).toHaveLength(1)
  })

  it('is bounded and says that there is more', async () => {
    const { stage } = await staged({ t: { cron: '* * * * *' } })
    await stage.pass(10 * minute)
    const window = { fromAt: t0, untilAt: t0 + 30 * day }
    const answer = await why(stage.store, { kinds, trigger: 't', ...window, now: stage.clock.now() })
    expect(answer.explanations).toHaveLength(200)
    expect(answer.more).toBe(true)
  })

  it('shows the newest of many up to now, oldest first, and counts those before', async () => {
    const { stage } = await staged({ t: { cron: '* * * * *' } })
    await stage.pass(250 * minute)
    const window = { fromAt: t0, untilAt: t0 + 300 * minute }
    const answer = await why(stage.store, { kinds, trigger: 't', ...window, now: stage.clock.now() })
    const at = answer.explanations.map((one) => (one.kind === 'run' ? (one.at - t0) / minute : NaN))
    expect(at).toEqual(Array.from({ length: 200 }, (_, n) => n + 51))
    expect([answer.earlier, answer.more]).toEqual([50, true])
    const before = { fromAt: t0, untilAt: t0 + 51 * minute }
    const rest = await why(stage.store, { kinds, trigger: 't', ...before, now: stage.clock.now() })
    expect([rest.explanations.length, rest.earlier, rest.more]).toEqual([51, 0, false])
  })

  it('shows the newest of many runs of a chain', async () => {
    const { stage } = await staged({ t: { every: '1m', after: 'finish' } })
    await stage.pass(250 * minute)
    const window = { fromAt: t0, untilAt: t0 + 300 * minute }
    const answer = await why(stage.store, { kinds, trigger: 't', ...window, now: stage.clock.now() })
    const own = await stage.store.runInstants({ trigger: 't', ...window, limit: 1000 })
    const shown = answer.explanations.flatMap((one) => (one.kind === 'run' ? [one.at] : []))
    expect(shown).toEqual(own.map(({ dueAt }) => dueAt).slice(-200))
    expect(answer.earlier).toBe(own.length - 200)
  })

  it('counts no further than ten thousand', async () => {
    const { stage } = await staged({ t: { cron: '* * * * * *', catchUp: 'skip' } })
    await stage.pass(minute)
    const [version] = await stage.store.versions('t')
    expect(version?.validFrom).toBe(t0)
    const now = t0 + day
    const answer = await why(stage.store, { kinds, trigger: 't', fromAt: t0, untilAt: now, now })
    expect(answer.explanations).toHaveLength(200)
    expect(answer.explanations.at(-1)).toMatchObject({ kind: 'waiting', at: now })
    expect(answer.earlier).toBe(10_000)
  })

  it('refuses an unknown name', async () => {
    const { stage } = await staged({})
    const request = { trigger: 'nobody', fromAt: t0, untilAt: t0, now: t0 }
    await expect(why(stage.store, { ...request, kinds })).rejects.toMatchObject({ code: 'TRIGGER_UNKNOWN' })
  })
})
