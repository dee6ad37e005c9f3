import { afterAll, beforeAll, expect, it } from 'vitest'
import { rota } from '../../../app/rota.js'
import { PostgresServer } from '../../../../test/fixtures/postgres.js'

let server: PostgresServer

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(() => server.stop())

it('F12: on Postgres a round performs its services in order, and keeps their timing', async () => {
  const app = rota({ store: await server.createDatabase() })
  const order: string[] = []
  for (const name of ['s1', 's2', 's3']) app.job(name, () => void order.push(name))
  app.rounds.define('r', { every: '1h', services: ['s1', 's2', 's3'] })
  const ended = new Promise<void>((resolve) => {
    app.on('run:ended', ({ job }) => job === 's3' && resolve())
  })
  await app.start()
  await ended
  expect(order).toEqual(['s1', 's2', 's3'])
  const { results } = await app.rounds.status('r')
  expect(results.map(({ service, status }) => [service, status])).toEqual(order.map((name) => [name, 'ok']))
  expect(await app.rounds.timing('s3')).toMatchObject({ intervalSeconds: 3600 })
  expect(await app.rounds.state()).toEqual([])
  await app.stop()
})
