import { describe, expect, it } from 'vitest'
import type { Rota } from '../../../app/rota.js'
import { byKeys, daily, hourly, monthly, weekly } from '../../../kernel/partition/define.js'
import { labelsOf } from '../../../kernel/partition/range.js'
import { stageAt, type AssetStage } from './stage.js'

const timezone = 'America/New_York'
const materialize = (): void => undefined

async function states(app: Rota, asset: string, labels: readonly string[]): Promise<string[]> {
  return (await app.assets.grid(asset, { labels })).map(({ state }) => state)
}

async function make({ app, pass }: AssetStage, asset: string, labels: Iterable<string>): Promise<void> {
  for (const partition of labels) await app.assets.materialize(asset, { partition })
  await pass(10)
}

describe('an asset with dependencies', () => {
  it('F13: is produced when all the partitions it needs are done, across hours, days and weeks and both clock changes', async () => {
    const stage = stageAt('2025-12-01T00:00:00Z')
    const { app, made } = stage
    const hours = hourly({ timezone })
    app.assets.define('hours', { partitions: hours, materialize })
    app.assets.define('days', { partitions: daily({ timezone }), deps: ['hours'], materialize })
    app.assets.define('weeks', { partitions: weekly({ timezone }), deps: ['days'], materialize })
    await app.start()
    for (const [day, next, count] of [
      ['2025-03-09', '2025-03-10', 23],
      ['2025-11-02', '2025-11-03', 25],
    ] as const) {
      const offset = day === '2025-03-09' ? ['-05:00', '-04:00'] : ['-04:00', '-05:00']
      const from = `${day}T00:00${offset[0]}`
      const to = `${day}T23:00${offset[1]}`
      const labels = [...labelsOf(hours, { from, to })]
      expect(labels.length).toBe(count)
      await make(stage, 'hours', labels.slice(1))
      expect(await states(app, 'days', [day])).toEqual(['missing'])
      await make(stage, 'hours', labels.slice(0, 1))
      expect(await states(app, 'days', [day, next])).toEqual(['done', 'missing'])
    }
    expect(await made('days')).toEqual(['2025-03-09', '2025-11-02'])
    expect(await made('weeks')).toEqual([])
    await make(stage, 'days', labelsOf(daily({ timezone }), { from: '2025-10-27', to: '2025-11-01' }))
    expect(await made('weeks')).toEqual(['2025-W44'])
    expect((await app.runs.list({ job: 'weeks' }))[0]).toMatchObject({
      origin: 'upstream',
      trigger: 'asset:weeks',
    })
  })

  it('F13: is produced again when something upstream is newer, and is stale until then', async () => {
    const stage = stageAt('2025-01-20T00:00:00Z')
    const { app, made, pass } = stage
    app.assets.define('raw', { partitions: daily(), materialize })
    app.assets.define('clean', { partitions: daily(), deps: ['raw'], materialize })
    app.assets.define('kept', { partitions: daily(), deps: ['raw'], follow: 'manual', materialize })
    await app.start()
    await make(stage, 'raw', ['2025-01-15'])
    await make(stage, 'kept', ['2025-01-15'])
    expect(await states(app, 'kept', ['2025-01-15', '2025-01-16'])).toEqual(['done', 'missing'])
    await pass(1000)
    await make(stage, 'raw', ['2025-01-15'])
    expect(await made('clean')).toEqual(['2025-01-15', '2025-01-15'])
    expect(await states(app, 'clean', ['2025-01-15'])).toEqual(['done'])
    expect(await states(app, 'kept', ['2025-01-15'])).toEqual(['stale'])
    expect(await made('kept')).toEqual(['2025-01-15'])
  })

  it('F13: is produced once after a burst of upstream runs', async () => {
    const stage = stageAt('2025-02-01T00:00:00Z', { concurrency: 5 })
    const { app, made, pass } = stage
    app.assets.define('days', { partitions: daily(), materialize })
    app.assets.define('months', { partitions: monthly(), deps: ['days'], materialize })
    await app.start()
    const { backfill } = await app.assets.backfill('days', { from: '2025-01-01', to: '2025-01-31' })
    await pass(1000)
    expect(await app.backfills.get(backfill?.id ?? '')).toMatchObject({ done: 31, failed: 0, left: 0 })
    expect(await made('months')).toEqual(['2025-01'])
    await app.assets.backfill('days', { from: '2025-01-01', to: '2025-01-31', only: 'all' })
    await pass(1000)
    // Everything that arrived while a run was waiting is included in it.
    expect((await made('months')).length).toBeLessThanOrEqual(3)
    expect(await states(app, 'months', ['2025-01'])).toEqual(['done'])
  })

  it('waits while it is paused, and then follows everything that arrived', async () => {
    const stage = stageAt('2025-02-01T00:00:00Z')
    const { app, made, pass } = stage
    app.assets.define('raw', { partitions: daily(), materialize })
    app.assets.define('clean', { partitions: daily(), deps: ['raw'], materialize })
    await app.start()
    await app.triggers.pause('asset:clean')
    await make(stage, 'raw', ['2025-01-15', '2025-01-16'])
    expect(await made('clean')).toEqual([])
    await app.triggers.resume('asset:clean')
    await pass(3000)
    expect((await made('clean')).toSorted()).toEqual(['2025-01-15', '2025-01-16'])
  })

  it('F13: is not forgotten if its waiting run is cancelled with a backfill', async () => {
    const stage = stageAt('2025-02-01T00:00:00Z')
    const { app, made, pass } = stage
    app.assets.define('raw', { partitions: daily(), queue: 'raw', materialize })
    app.assets.define('clean', { partitions: daily(), deps: ['raw'], materialize })
    await app.start()
    await app.queues.pause('assets')
    const { backfill } = await app.assets.backfill('clean', { partitions: ['2025-01-15'] })
    const id = backfill?.id ?? ''
    await make(stage, 'raw', ['2025-01-15'])
    await app.backfills.cancel(id)
    await app.queues.resume('assets')
    await pass(3000)
    expect(await made('clean')).toEqual(['2025-01-15'])
  })

  it('does not follow a failed run, but follows its successful retry', async () => {
    const stage = stageAt('2025-02-01T00:00:00Z')
    const { app, made, pass } = stage
    let isBroken = true
    app.assets.define('raw', {
      partitions: daily(),
      materialize: () => {
        if (isBroken) throw new Error('broken')
      },
    })
    app.assets.define('clean', { partitions: daily(), deps: ['raw'], materialize })
    await app.start()
    await make(stage, 'raw', ['2025-01-15'])
    expect(await states(app, 'raw', ['2025-01-15'])).toEqual(['failed'])
    expect(await made('clean')).toEqual([])
    isBroken = false
    await app.runs.retry((await app.runs.list({ job: 'raw' }))[0]?.id ?? '')
    await pass(10)
    expect(await states(app, 'raw', ['2025-01-15'])).toEqual(['done'])
    expect(await made('clean')).toEqual(['2025-01-15'])
  })

  it('needs the whole of a dependency without partitions, whichever of the two is done last', async () => {
    const stage = stageAt('2025-02-01T00:00:00Z')
    const { app, made } = stage
    app.assets.define('raw', { partitions: daily(), materialize })
    app.assets.define('rates', { materialize })
    app.assets.define('sales', { partitions: daily(), deps: ['raw', 'rates'], materialize })
    await app.start()
    await make(stage, 'raw', ['2025-01-15', '2025-01-16'])
    expect(await made('sales')).toEqual([])
    await app.assets.materialize('rates', {})
    await stage.pass(10)
    expect((await made('sales')).toSorted()).toEqual(['2025-01-15', '2025-01-16'])
    await make(stage, 'raw', ['2025-01-17'])
    expect(await made('sales')).toHaveLength(3)
    await stage.pass(1000)
    // New rates make every day stale; only a backfill produces them all again.
    await app.assets.materialize('rates', {})
    await stage.pass(10)
    expect(await made('sales')).toHaveLength(3)
    expect(await states(app, 'sales', ['2025-01-15', '2025-01-18'])).toEqual(['stale', 'missing'])
  })

  it('that depends on its own previous day continues up to now, and no further', async () => {
    const stage = stageAt('2025-01-17T12:00:00Z')
    const { app, made } = stage
    const partitions = daily({ start: '2025-01-14' })
    app.assets.define('total', { partitions, deps: [{ asset: 'total', map: { offset: -1 } }], materialize })
    await app.start()
    await make(stage, 'total', ['2025-01-14'])
    await stage.pass(100)
    expect((await made('total')).toSorted()).toEqual(['2025-01-14', '2025-01-15', '2025-01-16', '2025-01-17'])
  })

  it('follows each partition with map any, all of them with map all, and one partition for many keys', async () => {
    const stage = stageAt('2025-02-01T00:00:00Z')
    const { app, made } = stage
    const keys = byKeys(['eu', 'us'])
    app.assets.define('source', { materialize })
    app.assets.define('regions', { partitions: keys, deps: ['source'], materialize })
    app.assets.define('every', { deps: [{ asset: 'regions', map: 'all' }], materialize })
    app.assets.define('each', { deps: [{ asset: 'regions', map: 'any' }], materialize })
    await app.start()
    await make(stage, 'regions', ['eu'])
    expect(await made('every')).toEqual([])
    expect(await made('each')).toEqual([''])
    await stage.pass(1000)
    await make(stage, 'regions', ['us'])
    expect(await made('every')).toEqual([''])
    expect(await made('each')).toHaveLength(2)
    await stage.pass(1000)
    await app.assets.materialize('source')
    await stage.pass(100)
    expect((await made('regions')).toSorted()).toEqual(['eu', 'eu', 'us', 'us'])
  })
})

describe('more than one tick can handle', () => {
  it('F13: one partition that thousands depend on leads to one run for each of them', async () => {
    const stage = stageAt('2025-02-01T00:00:00Z', { concurrency: 200 })
    const { app, made } = stage
    const keys = Array.from({ length: 2500 }, (_, index) => `k${String(index).padStart(4, '0')}`)
    app.assets.define('source', { materialize })
    app.assets.define('keys', { partitions: byKeys(keys), deps: ['source'], materialize })
    await app.start()
    await app.assets.materialize('source')
    await stage.pass(1000)
    expect((await made('keys')).toSorted()).toEqual(keys)
  })

  it('F13: the last missing dependency of thousands of days leads to one run for each of them', async () => {
    const stage = stageAt('2025-02-01T00:00:00Z', { concurrency: 200 })
    const { app, made } = stage
    app.assets.define('raw', { partitions: daily(), materialize })
    app.assets.define('other', { partitions: daily(), materialize })
    app.assets.define('rates', { materialize })
    app.assets.define('sales', { partitions: daily(), deps: ['rates', 'raw', 'other'], materialize })
    await app.start()
    const range = { from: '2021-01-01', to: '2024-12-31' }
    await app.assets.backfill('raw', range)
    await app.assets.backfill('other', { ...range, from: '2021-01-02' })
    await stage.pass(1000)
    expect(await made('sales')).toEqual([])
    await app.assets.materialize('rates')
    await stage.pass(1000)
    expect((await made('sales')).toSorted()).toEqual([...labelsOf(daily(), { ...range, from: '2021-01-02' })])
    expect(await (await app.store()).stateEntries({ kind: 'arrival', limit: 1 })).toEqual([])
  })
})

describe('dependencies of assets', () => {
  it('F13: are checked when they are defined, all faults together', async () => {
    const { app } = stageAt('2025-01-15T00:00:00Z')
    app.assets.define('a', { deps: ['b'], materialize })
    app.assets.define('b', { deps: ['c'], materialize })
    app.assets.define('c', { deps: ['a', 'nothing'], materialize })
    app.assets.define('raw_events', { partitions: daily(), materialize })
    app.assets.define('total', { deps: ['raw_event', 'raw_events'], materialize })
    app.assets.define('self', { partitions: daily(), deps: ['self'], materialize })
    app.assets.define('keys', { partitions: byKeys(['eu']), deps: ['raw_events'], materialize })
    await expect(app.start()).rejects.toMatchObject({
      code: 'DEFINITION_INVALID',
      faults: [
        { path: 'assets.a.deps', message: 'each would wait for the other: a needs b needs c needs a' },
        { path: 'assets.c.deps[1]', message: 'no asset is named nothing' },
        { path: 'assets.total.deps[0]', message: 'no asset is named raw_event; did you mean raw_events?' },
        { path: 'assets.total.deps[1].map' },
        { path: 'assets.self.deps[0]' },
        { path: 'assets.keys.deps[0].map' },
      ],
    })
    expect(() => app.assets.define('b', { materialize })).toThrow(/defined twice/)
    expect(() => app.assets.define('x', { partitions: 'dayly', deps: 'b', materialize } as never)).toThrow(
      /partitions: .*deps: /,
    )
    expect(() => app.assets.define('x', {})).toThrow(/no action is defined/)
  })

  it('F2: a run without a valid partition is refused, and a second request returns the waiting run', async () => {
    const stage = stageAt('2025-01-15T12:00:00Z')
    const { app } = stage
    app.assets.define('raw', { partitions: daily(), retry: 5, materialize })
    await app.start()
    await expect(app.assets.materialize('raw', { partition: '2025-02-30' })).rejects.toMatchObject({
      code: 'PARTITION_INVALID',
    })
    await expect(app.assets.materialize('raw')).rejects.toMatchObject({ code: 'PARTITION_INVALID' })
    await expect(app.enqueue('raw')).rejects.toMatchObject({ code: 'PARTITION_INVALID' })
    await expect(app.assets.materialize('nothing')).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
    await app.queues.pause('assets')
    const first = await app.assets.materialize('raw', { partition: '2025-01-15' })
    const again = await app.assets.materialize('raw', { partition: '2025-01-15' })
    expect(again).toEqual({ id: first.id, created: false })
    await app.queues.resume('assets')
    await stage.pass(3000)
    expect(await app.assets.materialize('raw', { partition: '2025-01-15' })).toMatchObject({ created: true })
    // A manual run without a partition uses the current one.
    const { id } = await app.jobs.runNow('raw')
    expect((await app.runs.get(id)).partition).toBe('2025-01-15')
  })

  it('F13: a list shows as many partitions as requested, within limits', async () => {
    const { app } = stageAt('2025-01-20T00:00:00Z')
    app.assets.define('raw', { partitions: daily(), materialize })
    await app.start()
    expect(await app.assets.grid('raw', { newest: 1000 })).toHaveLength(1000)
    for (const newest of [0, -1, 1.5, Number.NaN, 100_001]) {
      await expect(app.assets.grid('raw', { newest })).rejects.toThrow(/newest: .* is not allowed/)
    }
  })
})
