import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PostgresServer } from '../../fixtures/postgres.js'
import { PostgresStores } from '../../fixtures/postgres-store.js'
import { policyCampaign } from './policies.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const seconds = Number(process.env['SECONDS'] ?? 5)

let server: PostgresServer

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(() => server.stop())

it.each([
  ['SQLite', async (directory: string) => `sqlite:${join(directory, 'rota.db')}`],
  ['Postgres', async () => (await PostgresStores.on(server)).fresh()],
] as const)(
  `G2–G7: with every policy at once on %s, ${seconds} s of kill -9 leave nothing unexplained, lost or doubled (seed ${seed})`,
  async (_, storeIn) => {
    const directory = await mkdtemp(join(tmpdir(), 'rota-policies-'))
    const store = await storeIn(directory)
    const report = await policyCampaign({ seed, durationMs: seconds * 1000, directory, store })
    console.log(`seed ${seed}:`, JSON.stringify({ ...report, broken: report.broken.length }))
    expect(report.broken.slice(0, 20)).toEqual([])
    expect(report.kills).toBeGreaterThan(3)
    // A hold that covers all of one of them is the reason that is recorded instead.
    const { blackout = 0, calendar = 0 } = report.skipped
    expect(blackout + calendar).toBeGreaterThan(0)
    await rm(directory, { recursive: true })
  },
  300_000,
)
