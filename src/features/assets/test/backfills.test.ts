import { describe, expect, it } from 'vitest'
import { cancelBackfill, startBackfill } from '../../../engine/backfill/perform-backfill.js'
import { recordBackfill } from '../backfill/api.js'
import { assetBackfill, backfillPlan } from '../backfill/backfills.js'
import { daily, hourly } from '../../../kernel/partition/define.js'
import { crashable } from '../../../testing/crash-point.js'
import { stageAt } from './stage.js'

const kinds = [assetBackfill]
const materialize = (): void => undefined

describe('a backfill', () => {
  it('F13: says what it will produce, what it will skip and why, and changes nothing', async () => {
    const { app, pass } = stageAt('2025-01-05T12:00:00Z')
    let isBroken = false
    app.assets.define('raw', {
      partitions: daily(),
      materialize: () => {
        if (isBroken) throw new Error('broken')
      },
    })
    await app.start()
    await app.assets.materialize('raw', { partition: '2025-01-01' })
    await pass(10)
    isBroken = true
    await app.assets.materialize('raw', { partition: '2025-01-02' })
    await pass(10)
    await app.queues.pause('assets')
    await app.assets.materialize('raw', { partition: '2025-01-03' })
    const range = { from: '2025-01-01', to: '2025-01-06' }
    expect(await app.assets.backfill('raw', { ...range, dryRun: true })).toEqual({
      backfill: undefined,
      plan: expect.stringMatching(/^[0-9a-f]{32}$/),
      run: ['2025-01-04', '2025-01-05'],
      skip: [
        { label: '2025-01-01', reason: 'done' },
        { label: '2025-01-02', reason: 'failed' },
        { label: '2025-01-03', reason: 'running' },
        { label: '2025-01-06', reason: 'not-begun' },
      ],
    })
    expect((await app.assets.backfill('raw', { ...range, only: 'failed', dryRun: true })).run).toEqual([
      '2025-01-02',
    ])
    expect(
      (
        await app.assets.backfill('raw', {
          ...range,
          only: 'all',
          order: 'newest-first',
          limit: 3,
          dryRun: true,
        })
      ).run,
    ).toEqual(['2025-01-05', '2025-01-04', '2025-01-02'])
    expect(
      (await app.assets.backfill('raw', { partitions: ['2025-01-04', '2024-12-31'], dryRun: true })).run,
    ).toEqual(['2024-12-31', '2025-01-04'])
    await expect(app.assets.backfill('raw', { from: '2025-01-01', dryRun: true })).rejects.toMatchObject({
      code: 'PARTITION_INVALID',
    })
    await expect(app.assets.backfill('raw', { partitions: ['2025-01-32'] })).rejects.toMatchObject({
      code: 'PARTITION_INVALID',
    })
    await expect(app.assets.backfill('raw', { ...range, concurrency: 0 })).rejects.toMatchObject({
      code: 'DEFINITION_INVALID',
    })
    const wrong = { only: 'stael', order: 'newest', limit: -1, concurrency: 0, pace: '2' }
    for (const [name, value] of Object.entries(wrong)) {
      const options = { ...range, [name]: value, dryRun: true }
      await expect(app.assets.backfill('raw', options)).rejects.toThrow(new RegExp(`not valid: ${name}: `))
    }
    await expect(app.assets.backfill('raw', { ...range, partitions: ['2025-01-04'] })).rejects.toThrow(
      /from: it contradicts `partitions`.*to: it contradicts `partitions`/,
    )
    expect(await app.backfills.list()).toEqual([])
    expect(await app.runs.list({ job: 'raw' })).toHaveLength(3)
  })

  it('F13: produces partitions in order, within its concurrency, and moves no schedule', async () => {
    const { app, clock, pass } = stageAt('2025-02-01T12:00:00Z')
    const order: string[] = []
    let most = 0
    let now = 0
    app.assets.define('raw', {
      partitions: daily(),
      materialize: async ({ partition, signal }) => {
        order.push(partition)
        most = Math.max(most, ++now)
        await clock.sleep(1000, signal)
        now -= 1
      },
    })
    await app.assets.schedule('raw', { cron: '0 2 * * *' })
    await app.start()
    const before = await app.triggers.list()
    const { backfill } = await app.assets.backfill('raw', {
      from: '2025-01-01',
      to: '2025-01-10',
      concurrency: 2,
      order: 'newest-first',
    })
    await pass(60_000)
    expect(order).toEqual(
      ['10', '09', '08', '07', '06', '05', '04', '03', '02', '01'].map((day) => `2025-01-${day}`),
    )
    expect(most).toBe(2)
    expect(await app.backfills.get(backfill?.id ?? '')).toMatchObject({
      total: 10,
      done: 10,
      failed: 0,
      left: 0,
    })
    expect(await app.triggers.list()).toEqual(before)
    expect(
      (await app.assets.backfill('raw', { from: '2025-01-01', to: '2025-01-10' })).backfill,
    ).toBeUndefined()
  })

  it('F13: can be cancelled: waiting partitions are not produced, and the backfill stays listed as cancelled', async () => {
    const { app, pass, made } = stageAt('2025-02-01T12:00:00Z')
    app.assets.define('raw', { partitions: daily(), materialize })
    await app.start({ roles: { worker: false } })
    const { backfill } = await app.assets.backfill('raw', { from: '2025-01-01', to: '2025-01-10' })
    const id = backfill?.id ?? ''
    expect(await app.backfills.cancel(id)).toMatchObject({ cancelledRuns: 10, state: 'cancelled' })
    await pass(1000)
    expect(await made('raw')).toEqual([])
    expect(await app.backfills.list({ asset: 'raw' })).toMatchObject([{ id, state: 'cancelled', total: 10 }])
    await expect(app.backfills.cancel('bf-none')).rejects.toMatchObject({ code: 'BACKFILL_UNKNOWN' })
    const again = { from: '2025-01-01', to: '2025-01-10', dryRun: true }
    expect((await app.assets.backfill('raw', again)).run).toHaveLength(10)
  })

  it('F13: of thousands of partitions is continued after a crash at any call of its start, and produces each once', async () => {
    for (let call = 1; call <= 34; call += 3) {
      for (const when of ['before', 'after'] as const) {
        const { app } = stageAt('2025-02-01T12:00:00Z')
        app.assets.define('raw', { partitions: hourly(), materialize })
        await app.start({ roles: { worker: false } })
        const store = await app.store()
        const now = app.now().getTime()
        const dead = new Promise<void>((resolve) => {
          const view = crashable(store, resolve)
          view.crashAt(call, when)
          const options = { from: '2024-10-01T00:00Z', to: '2024-12-31T23:00Z' }
          void backfillPlan(view.store, { asset: 'raw', options, now })
            .then((plan) =>
              recordBackfill(view.store, { asset: 'raw', plan, options, by: 'me', reason: null, now }),
            )
            .then(() => resolve())
        })
        await dead
        const [known] = await app.backfills.list()
        if (known === undefined) continue
        await startBackfill(store, { kinds, id: known.id, now })
        expect((await app.backfills.list())[0]).toMatchObject({ state: 'started', started: 2208 })
        const runs = await app.runs.list({ job: 'raw', limit: 10_000 })
        expect(new Set(runs.map(({ partition }) => partition)).size).toBe(2208)
        expect(runs).toHaveLength(2208)
        expect(await cancelBackfill(store, { kinds, id: known.id, now })).toMatchObject({
          cancelledRuns: 2208,
        })
      }
    }
  }, 60_000)

  it('F13: of ten thousand partitions is followed by the downstream partitions, each once', async () => {
    const { app, pass } = stageAt('2025-02-01T12:00:00Z', { concurrency: 100 })
    app.assets.define('hours', { partitions: hourly(), materialize })
    app.assets.define('days', { partitions: daily(), deps: ['hours'], materialize })
    await app.start()
    await app.assets.backfill('hours', { from: '2023-12-01T00:00Z', to: '2025-01-19T23:00Z' })
    await pass(30_000)
    expect(await app.runs.list({ job: 'hours', state: 'done', limit: 20_000 })).toHaveLength(9984)
    const days = await app.runs.list({ job: 'days', limit: 1000 })
    expect(new Set(days.map(({ partition }) => partition)).size).toBe(416)
    expect(days).toHaveLength(416)
  }, 60_000)
})
