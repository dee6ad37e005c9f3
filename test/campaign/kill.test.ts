import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PostgresServer } from '../fixtures/postgres.js'
import { PostgresStores } from '../fixtures/postgres-store.js'
import { killCampaign } from '../kill/kill.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const rounds = Number(process.env['ROUNDS'] ?? 20)
const kills = Number(process.env['KILLS'] ?? 100)

it(`loses and duplicates nothing in ${rounds} rounds of ${kills} kills (seed ${seed})`, async () => {
  expect(await broken((directory) => `sqlite:${join(directory, 'rota.db')}`)).toEqual([])
})

it(`loses and duplicates nothing in ${rounds} rounds of ${kills} kills on Postgres (seed ${seed})`, async () => {
  const server = await PostgresServer.start({ durable: true })
  try {
    const stores = await PostgresStores.on(server)
    expect(await broken(() => stores.fresh())).toEqual([])
  } finally {
    await server.stop()
  }
})

async function broken(storeIn: (directory: string) => string): Promise<string[]> {
  const broken: string[] = []
  for (let round = 0; round < rounds; round++) {
    const directory = await mkdtemp(join(tmpdir(), 'rota-campaign-'))
    const report = await killCampaign({
      seed: seed + round,
      kills,
      directory,
      store: storeIn(directory),
    })
    console.log(
      `round ${round + 1} of ${rounds}, seed ${seed + round}:`,
      JSON.stringify({ ...report, broken: report.broken.length }),
    )
    broken.push(...report.broken)
    await rm(directory, { recursive: true })
  }
  return broken.slice(0, 20)
}
