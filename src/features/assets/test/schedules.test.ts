import { describe, expect, it } from 'vitest'
import { byKeys, custom, daily, hourly, twoDimensional } from '../../../kernel/partition/define.js'
import { stageAt } from './stage.js'

const timezone = 'America/New_York'
const hour = 3_600_000

describe('the schedules of the original design', () => {
  it('F1: daily at 02:00 in New York has the day there as partition, also on clock changes', async () => {
    const { app, passTo, made } = stageAt('2025-03-07T12:00:00Z')
    app.assets.define('daily_report', { partitions: daily({ timezone }), materialize: () => undefined })
    await app.assets.schedule('daily_report', { cron: '0 2 * * *', timezone })
    await app.start()
    // On the 9th clocks jump from 02:00 to 03:00.
    await passTo('2025-03-11T12:00:00Z')
    expect(await made('daily_report')).toEqual(['2025-03-08', '2025-03-09', '2025-03-10', '2025-03-11'])
    const due = (await app.runs.list({ job: 'daily_report' })).map(({ dueAt }) =>
      new Date(dueAt).toISOString(),
    )
    expect(due.toReversed()).toEqual([
      '2025-03-08T07:00:00.000Z',
      '2025-03-09T07:00:00.000Z',
      '2025-03-10T06:00:00.000Z',
      '2025-03-11T06:00:00.000Z',
    ])
  })

  it('F1: a daily schedule is due once on the day on which clocks go back', async () => {
    const { app, passTo, made } = stageAt('2025-10-31T12:00:00Z')
    app.assets.define('daily_report', { partitions: daily({ timezone }), materialize: () => undefined })
    await app.assets.schedule('daily_report', { cron: '0 2 * * *', timezone })
    await app.start()
    await passTo('2025-11-03T12:00:00Z')
    expect(await made('daily_report')).toEqual(['2025-11-01', '2025-11-02', '2025-11-03'])
  })

  it('F1: every hour with the hour as partition', async () => {
    const { app, passTo, made } = stageAt('2025-01-15T12:30:00Z')
    app.assets.define('hourly_metrics', { partitions: hourly(), materialize: () => undefined })
    await app.assets.schedule('hourly_metrics', { cron: '0 * * * *', partition: 'hour' })
    await app.start()
    await passTo('2025-01-15T15:10:00Z')
    expect(await made('hourly_metrics')).toEqual([
      '2025-01-15T13:00Z',
      '2025-01-15T14:00Z',
      '2025-01-15T15:00Z',
    ])
  })

  it('F1: every 15 minutes, with the day as partition by default', async () => {
    const { app, passTo, made } = stageAt('2025-01-15T23:20:00Z')
    app.assets.define('realtime_metrics', { partitions: daily(), materialize: () => undefined })
    await app.assets.schedule('realtime_metrics', { cron: '*/15 * * * *' })
    await app.start()
    await passTo('2025-01-16T00:20:00Z')
    expect(await made('realtime_metrics')).toEqual(['2025-01-15', '2025-01-15', '2025-01-16', '2025-01-16'])
  })
})

describe('a schedule of an asset', () => {
  it('F2: its runs use the queue assets, and get their partition and its time range', async () => {
    const { app, passTo } = stageAt('2025-03-08T12:00:00Z')
    const seen: unknown[] = []
    app.assets.define('report', {
      partitions: daily({ timezone, previous: true }),
      materialize: ({ partition, slice, dueAt, signal }) => {
        seen.push([partition, slice?.from.toISOString(), slice?.until.toISOString(), dueAt.toISOString()])
        return { aborted: signal.aborted }
      },
    })
    await app.assets.schedule('report', { cron: '0 2 * * *', timezone })
    expect(await app.jobs.list()).toEqual([])
    await app.start()
    await passTo('2025-03-10T12:00:00Z')
    expect((await app.jobs.list())[0]?.job.queue).toBe('assets')
    expect(seen).toEqual([
      ['2025-03-08', '2025-03-08T05:00:00.000Z', '2025-03-09T05:00:00.000Z', '2025-03-09T07:00:00.000Z'],
      // 23 hours long.
      ['2025-03-09', '2025-03-09T05:00:00.000Z', '2025-03-10T04:00:00.000Z', '2025-03-10T06:00:00.000Z'],
    ])
  })

  it('F2: a retry after midnight keeps the right day', async () => {
    const { app, pass } = stageAt('2025-01-15T23:45:00Z')
    const tried: [string, string][] = []
    app.assets.define('report', {
      partitions: daily(),
      retry: { attempts: 2, delay: '20m', jitter: 0 },
      materialize: ({ partition, attempt }) => {
        tried.push([partition, new Date(app.now()).toISOString()])
        if (attempt === 1) throw new Error('not yet')
      },
    })
    await app.assets.schedule('report', { cron: '50 23 * * *' })
    await app.start()
    await pass(30 * 60_000)
    expect(tried).toEqual([
      ['2025-01-15', '2025-01-15T23:50:00.000Z'],
      ['2025-01-15', '2025-01-16T00:10:00.000Z'],
    ])
    expect(await app.assets.grid('report', { newest: 2 })).toMatchObject([
      { label: '2025-01-15', state: 'done' },
      { label: '2025-01-16', state: 'missing' },
    ])
  })

  it('F2: after downtime of several days, every missed day is produced', async () => {
    const { app, clock, pass, made } = stageAt('2025-01-10T00:00:00Z')
    app.assets.define('report', { partitions: daily(), materialize: () => undefined })
    await app.assets.schedule('report', { cron: '0 2 * * *' })
    await app.start({ roles: { worker: false } })
    clock.step(3 * 24 * hour + 3 * hour)
    await pass(30_000)
    const runs = await app.runs.list({ job: 'report' })
    expect(runs.map(({ partition }) => partition).toReversed()).toEqual([
      '2025-01-10',
      '2025-01-11',
      '2025-01-12',
      '2025-01-13',
    ])
    expect(await made('report')).toEqual([])
  })

  it('F2: an unknown asset is refused when the schedule is defined', async () => {
    const { app } = stageAt('2025-01-15T00:00:00Z')
    app.job('mail', () => undefined)
    expect(() => app.assets.schedule('mail', { cron: '0 2 * * *' })).toThrow(/no asset is named mail/)
    // Thrown immediately, not as the rejection of a promise that nobody awaits.
    expect(() => app.assets.schedule('nothing', { cron: '0 2 * * *' })).toThrow(
      /for a job use app\.schedule\(\)/,
    )
  })

  it('F2: unscheduling between due and run does not break the run', async () => {
    const { app, passTo, made } = stageAt('2025-01-15T00:00:00Z')
    app.assets.define('report', { partitions: daily(), materialize: () => undefined })
    await app.assets.schedule('report', { cron: '0 2 * * *' })
    await app.start()
    await app.queues.pause('assets')
    await passTo('2025-01-15T02:30:00Z')
    expect(await app.assets.unschedule('report')).toEqual({ removed: true })
    await app.queues.resume('assets')
    await passTo('2025-01-17T00:00:00Z')
    expect(await made('report')).toEqual(['2025-01-15'])
  })

  it('F1: it has the name of its asset by default, and can be replaced, listed and ended', async () => {
    const { app, passTo, made } = stageAt('2025-01-15T00:00:00Z')
    app.assets.define('report', { partitions: daily(), materialize: () => undefined })
    await app.assets.schedule('report', { cron: '0 5 * * *' })
    await app.assets.schedule('report', { cron: '0 2 * * *' })
    await app.assets.schedule('report', { cron: '0 3 * * *', name: 'again', enabled: false })
    const before = (await app.assets.schedules()).map(({ name, cron, enabled }) => [name, cron, enabled])
    await app.start()
    const after = (await app.assets.schedules()).map(({ name, cron, enabled }) => [name, cron, enabled])
    expect(after).toEqual([
      ['again', '0 3 * * *', false],
      ['report', '0 2 * * *', true],
    ])
    expect(before).toEqual(after)
    await passTo('2025-01-15T06:00:00Z')
    expect(await made('report')).toEqual(['2025-01-15'])
    expect(await app.assets.unschedule('report')).toEqual({ removed: true })
    expect(await app.assets.unschedule('report')).toEqual({ removed: false })
    expect(await app.assets.unschedule('nobody')).toEqual({ removed: false })
  })

  it('F1: it can be defined at run time, and begins when it is enabled', async () => {
    const { app, passTo, made } = stageAt('2025-01-15T00:00:00Z')
    app.assets.define('report', { partitions: daily(), materialize: () => undefined })
    await app.start()
    await app.assets.schedule('report', { cron: '0 2 * * *', enabled: false })
    await passTo('2025-01-16T00:00:00Z')
    expect(await made('report')).toEqual([])
    await app.assets.schedule('report', { cron: '0 2 * * *' })
    await passTo('2025-01-18T00:00:00Z')
    expect(await made('report')).toEqual(['2025-01-16', '2025-01-17'])
    expect(await app.assets.schedules()).toMatchObject([
      {
        name: 'report',
        asset: 'report',
        source: 'api',
        timezone: 'UTC',
        nextAt: new Date('2025-01-18T02:00:00Z'),
      },
    ])
    await expect(app.assets.schedule('nothing', { cron: '0 2 * * *' })).rejects.toMatchObject({
      code: 'JOB_UNKNOWN',
    })
    await expect(app.assets.schedule('report', {})).rejects.toThrow(/it has no schedule/)
  })

  it('for keys names a label, for a pair a key, and creates no run outside the first and last partition', async () => {
    const { app, passTo, made } = stageAt('2025-01-14T00:00:00Z')
    const materialize = (): void => undefined
    const partitions = daily({ start: '2025-01-15', end: '2025-01-16' })
    app.assets.define('bounded', { partitions, materialize })
    app.assets.define('regions', { partitions: byKeys(['eu', 'us']), materialize })
    app.assets.define('sales', { partitions: twoDimensional(daily(), byKeys(['eu', 'us'])), materialize })
    app.assets.define('own', { partitions: custom(), materialize })
    const cron = '0 2 * * *'
    await app.assets.schedule('bounded', { cron })
    await app.assets.schedule('regions', { cron, partition: { label: 'us' } })
    await app.assets.schedule('sales', { cron, partition: { key: 'eu' } })
    await app.assets.schedule('own', { cron, partition: 'previous-day' })
    await app.start()
    await passTo('2025-01-18T00:00:00Z')
    expect(await made('bounded')).toEqual(['2025-01-15', '2025-01-16'])
    // A fixed partition need not be produced once for every missed day.
    expect(await made('regions')).toEqual(['us'])
    expect(await made('sales')).toEqual(['2025-01-14|eu', '2025-01-15|eu', '2025-01-16|eu', '2025-01-17|eu'])
    expect(await made('own')).toEqual(['2025-01-13', '2025-01-14', '2025-01-15', '2025-01-16'])
    expect(await app.coverage({ trigger: 'bounded' })).toMatchObject([
      { run: 2, explained: { missed: 2 }, unexplainedCount: 0 },
    ])
  })
})
