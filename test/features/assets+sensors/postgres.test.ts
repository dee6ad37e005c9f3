import { afterAll, beforeAll, expect, it } from 'vitest'
import { rota } from '../../../src/app/rota.js'
import { daily } from '../../../src/kernel/partition/define.js'
import { PostgresServer } from '../../fixtures/postgres.js'

let server: PostgresServer
let store: string

beforeAll(async () => {
  server = await PostgresServer.start()
  store = await server.createDatabase()
})

afterAll(() => server.stop())

it('F12: on Postgres an observation is materialized once, downstream assets follow, and another process sees both', async () => {
  const app = rota({ store })
  app.assets.define('raw', { partitions: daily(), materialize: () => undefined })
  app.assets.define('clean', { partitions: daily(), deps: ['raw'], materialize: () => undefined })
  app.sensors.define('files', {
    job: 'raw',
    every: '10ms',
    sensor: {
      init: () => ({ kind: 'ok', state: 0 }),
      poll: (state: number) => ({
        kind: 'trigger',
        observations: [{ key: 'data/2025-01-15', partition: '2025-01-15' }],
        state: state + 1,
      }),
    },
  })
  const followed = new Promise<void>((resolve) => {
    app.on('run:ended', ({ job }) => job === 'clean' && resolve())
  })
  const again = new Promise<void>((resolve) => {
    app.on('sensor:polled', ({ fresh }) => fresh === 0 && resolve())
  })
  await app.start()
  await Promise.all([followed, again])
  await app.assets.backfill('raw', { from: '2025-01-15', to: '2025-01-15', only: 'missing' })
  expect(await app.sensors.deliver('files', { key: 'data/2025-01-15', partition: '2025-01-15' })).toBe(
    'duplicate',
  )
  await app.stop()
  const other = rota({ store })
  expect(await other.runs.list()).toHaveLength(2)
  for (const asset of ['raw', 'clean'])
    expect(await other.assets.grid(asset, { labels: ['2025-01-15'] })).toMatchObject([{ state: 'done' }])
  expect((await other.sensors.list())[0]?.record.state).toBeGreaterThan(1)
  await other.close()
})
