import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PostgresServer } from '../../../fixtures/postgres.js'
import { PostgresStores } from '../../../fixtures/postgres-store.js'
import { policyCampaign } from '../policies.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const rounds = Number(process.env['ROUNDS'] ?? 10)
const seconds = Number(process.env['SECONDS'] ?? 30)

it(`leaves nothing unexplained with every policy at once over ${rounds} rounds of ${seconds} s of kills (seed ${seed})`, async () => {
  expect(await broken((directory) => `sqlite:${join(directory, 'rota.db')}`)).toEqual([])
})

it(`leaves nothing unexplained on Postgres over ${rounds} rounds of ${seconds} s of kills (seed ${seed})`, async () => {
  const server = await PostgresServer.start({ durable: true })
  try {
    const stores = await PostgresStores.on(server)
    expect(await broken(() => stores.fresh())).toEqual([])
  } finally {
    await server.stop()
  }
})

async function broken(storeIn: (directory: string) => string): Promise<string[]> {
  const found: string[] = []
  for (let round = 0; round < rounds; round++) {
    const directory = await mkdtemp(join(tmpdir(), 'rota-campaign-'))
    const options = { seed: seed + round, durationMs: seconds * 1000, directory }
    const report = await policyCampaign({ ...options, store: storeIn(directory) })
    const shown = JSON.stringify({ ...report, broken: report.broken.length })
    console.log(`round ${round + 1} of ${rounds}, seed ${seed + round}:`, shown)
    found.push(...report.broken)
    await rm(directory, { recursive: true })
  }
  return found.slice(0, 20)
}
