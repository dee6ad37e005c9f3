import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PostgresServer } from '../fixtures/postgres.js'
import { PostgresStores } from '../fixtures/postgres-store.js'
import { killCampaign } from './kill.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const kills = Number(process.env['KILLS'] ?? 4)

let server: PostgresServer

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(() => server.stop())

it(`G2, G4, G5, G7: the real program, killed with kill -9 ${kills} times with a second process on the same schema, loses and duplicates nothing (seed ${seed})`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rota-kill-'))
  const store = (await PostgresStores.on(server)).fresh()
  const report = await killCampaign({ seed, kills, directory, store })
  console.log(`seed ${seed}:`, { ...report, broken: report.broken.length })
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.enqueued).toBeGreaterThan(0)
  await rm(directory, { recursive: true })
}, 600_000)
