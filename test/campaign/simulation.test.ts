import { expect, it } from 'vitest'
import { PostgresServer } from '../fixtures/postgres.js'
import { PostgresStores } from '../fixtures/postgres-store.js'
import { simulateOnMemory, simulateOnPostgres, simulateOnSqlite } from '../simulation/worlds.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const rounds = Number(process.env['ROUNDS'] ?? 20)

for (let round = 0; round < rounds; round++) {
  it(`keeps its guarantees for a year on the memory store (seed ${seed + round})`, async () => {
    const { broken } = await simulateOnMemory({ seed: seed + round, days: 365, count: 300 })
    expect(broken.slice(0, 20)).toEqual([])
  })

  it(`keeps its guarantees for half a year on one SQLite file (seed ${seed + round})`, async () => {
    const { broken } = await simulateOnSqlite({ seed: seed + round, days: 183, count: 200 })
    expect(broken.slice(0, 20)).toEqual([])
  })

  it(`keeps its guarantees for a month on Postgres (seed ${seed + round})`, async () => {
    const server = await PostgresServer.start()
    try {
      const stores = await PostgresStores.on(server)
      const { broken } = await simulateOnPostgres({ seed: seed + round, days: 31, count: 20 }, stores.fresh())
      expect(broken.slice(0, 20)).toEqual([])
    } finally {
      await server.stop()
    }
  })
}
