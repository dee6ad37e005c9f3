import { afterAll, beforeAll, expect, it } from 'vitest'
import { PostgresServer } from '../fixtures/postgres.js'
import { PostgresStores } from '../fixtures/postgres-store.js'
import { simulateOnPostgres } from './worlds.js'

const seed = Number(process.env['SEED'] ?? 20260328)
const days = Number(process.env['DAYS'] ?? 1)

let server: PostgresServer

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(() => server.stop())

it(`G1–G7: ${days} days of 20 triggers with crashes, daylight saving and clock steps, on Postgres (seed ${seed})`, async () => {
  const stores = await PostgresStores.on(server)
  const report = await simulateOnPostgres({ seed, days, count: 20 }, stores.fresh())
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.crashes).toBeGreaterThan(days)
}, 300_000)
