import { expect, it } from 'vitest'
import { stageAt } from '../../../src/features/assets/test/stage.js'
import type { Sensor } from '../../../src/features/sensors/sensor.js'
import { daily } from '../../../src/kernel/partition/define.js'

const materialize = (): void => undefined

it('F10: a sensor triggers an asset, a job or a function of the partition, as a run with retries', async () => {
  const { app, pass, made } = stageAt('2025-01-15T12:00:00Z')
  const called: [string, number][] = []
  const found = ['2025-01-14', '2025-01-15', 'no-day']
  const [first, ...others] = found.map((key) => ({ key, partition: key }))
  const sensor: Sensor<undefined, null> = {
    init: () => ({ kind: 'ok', state: null }),
    poll: () => ({ kind: 'trigger', state: null, observations: [first!, ...others] }),
  }
  app.assets.define('raw', { partitions: daily(), retry: 3, materialize })
  app.sensors.define('files', { sensor, job: 'raw' })
  app.sensors.define('calls', {
    sensor,
    runs: { retry: { attempts: 2, delay: '1s', jitter: 0 } },
    onTrigger: (partition, { attempt }) => {
      called.push([partition, attempt])
      if (attempt === 1) throw new Error('not yet')
    },
  })
  await app.start()
  await pass(5000)
  expect((await made('raw')).toSorted()).toEqual(['2025-01-14', '2025-01-15'])
  expect(
    called
      .filter(([, attempt]) => attempt === 2)
      .map(([partition]) => partition)
      .toSorted(),
  ).toEqual(found)
  // An observation without a partition of the asset fails permanently with a reason.
  const [failed] = await app.runs.list({ job: 'raw', state: 'failed' })
  expect(failed).toMatchObject({ attempt: 1, partition: 'no-day', error: { code: 'PARTITION_INVALID' } })
  expect(await app.assets.grid('raw', { labels: ['2025-01-14'] })).toMatchObject([{ state: 'done' }])
})

it('F3: cron, sensors, manual calls, backfills and upstream assets use the same path to the same function', async () => {
  const { app, passTo } = stageAt('2025-01-15T01:59:30Z')
  const called: [string, string][] = []
  const sensor: Sensor<undefined, null> = {
    init: () => ({ kind: 'ok', state: null }),
    poll: () => ({ kind: 'trigger', state: null, observations: [{ key: 'a', partition: '2025-01-12' }] }),
  }
  app.assets.define('source', { partitions: daily(), materialize })
  app.assets.define('raw', {
    partitions: daily(),
    deps: ['source'],
    retry: { attempts: 2, delay: '1s', jitter: 0 },
    materialize: async ({ id, partition, attempt }) => {
      called.push([(await app.runs.get(id)).origin, partition])
      if (attempt === 1) throw new Error('not yet')
    },
  })
  app.sensors.define('files', { sensor, job: 'raw' })
  await app.assets.schedule('raw', { cron: '0 2 * * *' })
  await app.start()
  await app.assets.materialize('raw', { partition: '2025-01-13' })
  await app.assets.materialize('source', { partition: '2025-01-14' })
  await app.assets.backfill('raw', { partitions: ['2025-01-11'] })
  await app.triggers.runNow('raw', { partition: '2025-01-10' })
  await passTo('2025-01-15T02:00:10Z')
  const origins = {
    sensor: '12',
    trigger: '15',
    enqueue: '13',
    upstream: '14',
    backfill: '11',
    manual: '10',
  }
  const expected = Object.entries(origins).map(([origin, day]) => [origin, `2025-01-${day}`])
  // Each had a second attempt, in the same queue, and each wrote the state of its partition.
  const byText = (one: readonly string[], other: readonly string[]): number =>
    one.join(' ') < other.join(' ') ? -1 : 1
  expect(called.toSorted(byText)).toEqual([...expected, ...expected].toSorted(byText))
  const statuses = await app.assets.grid('raw', { from: '2025-01-10', to: '2025-01-15' })
  expect(statuses.map(({ state }) => state)).toEqual(Array.from({ length: 6 }, () => 'done'))
})
