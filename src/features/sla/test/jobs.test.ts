import { describe, expect, it, onTestFinished } from 'vitest'
import { rota, type Rota } from '../../../app/rota.js'
import { breaches } from '../../../engine/explain/breaches.js'
import { breachText, type Breach } from '../../../kernel/sla/deadline.js'
import type { SlaInput } from '../../../kernel/sla/sla.js'
import { testApp, type TestApp, type WorldOptions } from '../../../testing/test-app.js'
import { formatInstant } from '../../../time/instant.js'

/** A simulation with one job, which takes as long as its payload says and fails if that is negative. */
async function worldWith(
  sla: SlaInput,
  define: (app: Rota) => void = () => undefined,
): Promise<TestApp<Rota> & { readonly told: Breach[] }> {
  const told: Breach[] = []
  const make = (options: WorldOptions): Rota => {
    const app = rota({ app: 'sla', ...options })
    app.job(
      'work',
      async ({ payload }) => {
        const ms = Number(payload ?? 0)
        await options.clock.sleep(Math.abs(ms))
        if (ms < 0) throw new Error('no')
      },
      { sla },
    )
    define(app)
    app.on('sla:breached', (breach) => void told.push(breach as unknown as Breach))
    return app
  }
  const world = await testApp(make)
  onTestFinished(() => world.close())
  return Object.assign(world, { told })
}

const texts = async (world: TestApp<Rota>): Promise<readonly string[]> =>
  (await breaches(await world.app.store(), {})).map((one) => breachText(one, formatInstant)).toReversed()

const minute = 60_000

describe('an SLA of a job', () => {
  it('measures enqueued and manual runs, and each breach is reported once', async () => {
    const world = await worldWith({ finishedWithin: '5m' })
    await world.app.enqueue('work', 4 * minute)
    const { id } = await world.app.enqueue('work', 6 * minute)
    const byHand = await world.app.jobs.runNow('work', { payload: 7 * minute })
    await world.advance('1h')
    expect(world.told.map(({ of, name, run, rule }) => ({ of, name, run, rule }))).toEqual(
      expect.arrayContaining([
        { of: 'job', name: 'work', run: id, rule: 'finished-within' },
        { of: 'job', name: 'work', run: byHand.id, rule: 'finished-within' },
      ]),
    )
    expect(world.told).toHaveLength(2)
    expect(await texts(world)).toEqual([
      'the run that was due at 2026-01-01T00:00:00Z was not recorded as ended by 2026-01-01T00:05:00Z, as its SLA promises',
      'the run that was due at 2026-01-01T00:00:00Z was not recorded as ended by 2026-01-01T00:05:00Z, as its SLA promises',
    ])
    expect(await (await world.app.store()).stateEntries({ kind: 'deadline', limit: 10 })).toEqual([])
  })

  it('is measured from the due time of a delayed run, and a cancelled run breaks no promise', async () => {
    const world = await worldWith({ startedWithin: '1m' })
    await world.app.queues.pause('default')
    await world.app.enqueue('work', 0, { delay: '1h' })
    const { id } = await world.app.enqueue('work', 0, { delay: '1h' })
    await world.app.runs.cancel(id)
    await world.advance('50m')
    expect(world.told).toEqual([])
    await world.advance('20m')
    expect(await texts(world)).toEqual([
      'the run that was due at 2026-01-01T01:00:00Z had not begun by 2026-01-01T01:01:00Z, as its SLA promises',
    ])
  })

  it('is measured from the time at which a debounced run may begin', async () => {
    const world = await worldWith({ startedWithin: '1m' })
    const debounce = { key: 'k', wait: '10m' }
    for (let i = 0; i < 5; i++) {
      await world.app.enqueue('work', 0, { debounce })
      await world.advance('5m')
    }
    await world.advance('1h')
    expect(await world.runs({ state: 'done' })).toHaveLength(1)
    expect(world.told).toEqual([])
    await world.app.queues.pause('default')
    await world.app.enqueue('work', 0, { debounce })
    await world.advance('1h')
    expect(world.told.map(({ rule }) => rule)).toEqual(['started-within'])
  })

  it('does not measure backfills', async () => {
    const world = await worldWith({ startedWithin: '1m', notOlderThan: '30d' }, (app) =>
      app.schedule('daily', { job: 'work', cron: '0 3 * * *' }),
    )
    await world.advance('5d')
    const { backfill } = await world.app.triggers.backfill('daily', {
      from: new Date('2026-01-01T00:00:00Z'),
      to: new Date('2026-01-04T00:00:00Z'),
      only: 'all',
    })
    await world.app.backfills.start(backfill?.id ?? '')
    await world.advance('1h')
    const done = await world.runs({ state: 'done' })
    expect(done.filter(({ origin }) => origin === 'backfill')).toHaveLength(3)
    expect(world.told).toEqual([])
  })
})

it('refuses a trigger that delays runs longer than their job promises', async () => {
  const app = rota({ store: 'memory:' })
  onTestFinished(() => app.stop())
  app.job('work', () => undefined, { sla: { startedWithin: '1m' } })
  app.schedule('late', { job: 'work', every: '1h', jitter: '10m' })
  await expect(app.start()).rejects.toThrow(
    'triggers.late.jitter: runs may be delayed by 10m, which contradicts `jobs.work.sla.startedWithin` (1m)',
  )
})

describe('the age of the last success', () => {
  it('is measured from the definition, is reported once for each gap, and counts only successes', async () => {
    const world = await worldWith({ notOlderThan: '1h' })
    await world.advance('3h')
    expect(await texts(world)).toEqual([
      'nothing has succeeded since 2026-01-01T00:00:00Z, when this was promised; by 2026-01-01T01:00:00Z there should have been one, as the SLA allows 1h',
    ])
    await world.app.enqueue('work', -1)
    await world.advance('10m')
    await world.app.enqueue('work', 0)
    await world.advance('50m')
    await world.app.enqueue('work', 0)
    await world.advance('50m')
    expect(world.told).toHaveLength(1)
    await world.advance('5h')
    expect(await texts(world)).toEqual([
      expect.stringMatching(/^nothing has succeeded/),
      'the last success was at 2026-01-01T04:00:00Z; by 2026-01-01T05:00:00Z there should have been one, as the SLA allows 1h',
    ])
  })

  it('is checked after a crash, however long nothing ran, even if a success came first', async () => {
    const world = await worldWith({ notOlderThan: '1h' }, (app) =>
      app.schedule('hourly', { job: 'work', cron: '*/30 * * * *' }),
    )
    await world.advance('2h')
    world.crash()
    await world.advance('6h')
    await world.restart()
    await world.advance('2h')
    expect(await texts(world)).toEqual([
      'the last success was at 2026-01-01T02:00:00Z; by 2026-01-01T03:00:00Z there should have been one, as the SLA allows 1h',
    ])
  })

  it('is not checked any more if the trigger has ended or no longer promises it', async () => {
    const world = await worldWith({ notOlderThan: '365d' })
    const promising = { job: 'work', every: '30m', sla: { notOlderThan: '1h' } } as const
    await world.app.triggers.add({ changed: promising, removed: promising, paused: promising })
    await world.app.triggers.edit('changed', { sla: { startedWithin: '1m' } })
    await world.app.triggers.remove('removed')
    await world.app.triggers.pause('paused')
    await world.advance('3h')
    expect(world.told.map(({ name }) => name)).toEqual(['paused'])
    const left = await (await world.app.store()).stateEntries({ kind: 'promise', limit: 10 })
    expect(left.map(({ name }) => name)).toEqual(['job work', 'paused'])
  })
})
