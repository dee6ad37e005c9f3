import { describe, expect, it } from 'vitest'
import {
  cancelBackfill,
  continueBackfill,
  startBackfill,
} from '../../src/features/assets/backfill/backfills.js'
import { daily, hourly } from '../../src/kernel/partition/define.js'
import { crashable } from '../../src/testing/crash-point.js'
import { stageAt } from './stage.js'

const materialize = (): void => undefined

describe('a backfill', () => {
  it('F13: says what it will make and what it will leave alone and why, and changes nothing', async () => {
    const { app, pass } = stageAt('2025-01-05T12:00:00Z')
    let isBroken = false
    app.asset('raw', {
      partitions: daily(),
      materialize: () => {
        if (isBroken) throw new Error('broken')
      },
    })
    await app.start()
    await app.materialize('raw', { partition: '2025-01-01' })
    await pass(10)
    isBroken = true
    await app.materialize('raw', { partition: '2025-01-02' })
    await pass(10)
    await app.pauseQueue('assets')
    await app.materialize('raw', { partition: '2025-01-03' })
    const range = { from: '2025-01-01', to: '2025-01-06' }
    expect(await app.planBackfill('raw', range)).toEqual({
      run: ['2025-01-04', '2025-01-05'],
      skip: [
        { label: '2025-01-01', reason: 'done' },
        { label: '2025-01-02', reason: 'failed' },
        { label: '2025-01-03', reason: 'running' },
        { label: '2025-01-06', reason: 'not-begun' },
      ],
    })
    expect((await app.planBackfill('raw', { ...range, only: 'failed' })).run).toEqual(['2025-01-02'])
    expect(
      (await app.planBackfill('raw', { ...range, only: 'all', order: 'newest-first', limit: 3 })).run,
    ).toEqual(['2025-01-05', '2025-01-04', '2025-01-02'])
    expect((await app.planBackfill('raw', { partitions: ['2025-01-04', '2024-12-31'] })).run).toEqual([
      '2024-12-31',
      '2025-01-04',
    ])
    await expect(app.planBackfill('raw', { from: '2025-01-01' })).rejects.toMatchObject({
      code: 'PARTITION_INVALID',
    })
    await expect(app.backfill('raw', { partitions: ['2025-01-32'] })).rejects.toMatchObject({
      code: 'PARTITION_INVALID',
    })
    await expect(app.backfill('raw', { ...range, pace: 0 })).rejects.toMatchObject({
      code: 'DEFINITION_INVALID',
    })
    const wrong = { only: 'stael', order: 'newest', limit: -1, pace: 0 }
    for (const [name, value] of Object.entries(wrong)) {
      const options = { ...range, [name]: value }
      await expect(app.planBackfill('raw', options)).rejects.toThrow(new RegExp(`not valid: ${name}: `))
    }
    expect(await app.backfills()).toEqual([])
    expect(await app.runs({ job: 'raw' })).toHaveLength(3)
  })

  it('F13: makes them in order, so many at once, and moves no schedule', async () => {
    const { app, clock, pass } = stageAt('2025-02-01T12:00:00Z')
    const order: string[] = []
    let most = 0
    let now = 0
    app.asset('raw', {
      partitions: daily(),
      materialize: async ({ partition, signal }) => {
        order.push(partition)
        most = Math.max(most, ++now)
        await clock.sleep(1000, signal)
        now -= 1
      },
    })
    await app.schedule('raw', { cron: '0 2 * * *' })
    await app.start()
    const before = await app.triggers()
    const backfill = await app.backfill('raw', {
      from: '2025-01-01',
      to: '2025-01-10',
      pace: 2,
      order: 'newest-first',
    })
    await pass(60_000)
    expect(order).toEqual(
      ['10', '09', '08', '07', '06', '05', '04', '03', '02', '01'].map((day) => `2025-01-${day}`),
    )
    expect(most).toBe(2)
    expect(await app.backfillStatus(backfill?.id ?? '')).toMatchObject({
      total: 10,
      done: 10,
      failed: 0,
      left: 0,
    })
    expect(await app.triggers()).toEqual(before)
    expect(await app.backfill('raw', { from: '2025-01-01', to: '2025-01-10' })).toBeUndefined()
  })

  it('F13: is cancelled: what waits is not made, and that it was is kept', async () => {
    const { app, pass, made } = stageAt('2025-02-01T12:00:00Z')
    app.asset('raw', { partitions: daily(), materialize })
    await app.start({ roles: { worker: false } })
    const { id = '' } = (await app.backfill('raw', { from: '2025-01-01', to: '2025-01-10' })) ?? {}
    expect(await app.cancelBackfill(id)).toMatchObject({ cancelled: 10, backfill: { state: 'cancelled' } })
    await pass(1000)
    expect(await made('raw')).toEqual([])
    expect(await app.backfills('raw')).toMatchObject([{ id, state: 'cancelled', total: 10 }])
    await expect(app.cancelBackfill('bf-none')).rejects.toMatchObject({ code: 'RUN_UNKNOWN' })
    expect((await app.planBackfill('raw', { from: '2025-01-01', to: '2025-01-10' })).run).toHaveLength(10)
  })

  it('F13: of thousands that is cut short anywhere while it starts is continued, and makes each once', async () => {
    for (let call = 1; call <= 14; call++) {
      for (const when of ['before', 'after'] as const) {
        const { app } = stageAt('2025-02-01T12:00:00Z')
        app.asset('raw', { partitions: hourly(), materialize })
        await app.start({ roles: { worker: false } })
        const store = await app.store()
        const now = app.now()
        const dead = new Promise<void>((resolve) => {
          const view = crashable(store, resolve)
          view.crashAt(call, when)
          const options = { from: '2024-10-01T00:00Z', to: '2024-12-31T23:00Z' }
          void startBackfill(view.store, { asset: 'raw', options, now }).then(() => resolve())
        })
        await dead
        const [known] = await app.backfills()
        if (known === undefined) continue
        await continueBackfill(store, { id: known.id, now })
        expect((await app.backfills())[0]).toMatchObject({ state: 'started', started: 2208 })
        const runs = await app.runs({ job: 'raw', limit: 10_000 })
        expect(new Set(runs.map(({ partition }) => partition)).size).toBe(2208)
        expect(runs).toHaveLength(2208)
        expect(await cancelBackfill(store, { id: known.id, now })).toMatchObject({ cancelled: 2208 })
      }
    }
  }, 60_000)

  it('F13: of ten thousand partitions is followed by what is made from them, each once', async () => {
    const { app, pass } = stageAt('2025-02-01T12:00:00Z', { concurrency: 100 })
    app.asset('hours', { partitions: hourly(), materialize })
    app.asset('days', { partitions: daily(), deps: ['hours'], materialize })
    await app.start()
    await app.backfill('hours', { from: '2023-12-01T00:00Z', to: '2025-01-19T23:00Z' })
    await pass(30_000)
    expect(await app.runs({ job: 'hours', state: 'done', limit: 20_000 })).toHaveLength(9984)
    const days = await app.runs({ job: 'days', limit: 1000 })
    expect(new Set(days.map(({ partition }) => partition)).size).toBe(416)
    expect(days).toHaveLength(416)
  }, 60_000)
})
