import { expect, it } from 'vitest'
import { simulateOnMemory, simulateOnSqlite } from '../simulation/worlds.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const rounds = Number(process.env['ROUNDS'] ?? 20)

for (let round = 0; round < rounds; round++) {
  it(`keeps its promises for a year on the memory store (seed ${seed + round})`, async () => {
    const { broken } = await simulateOnMemory({ seed: seed + round, days: 365 })
    expect(broken.slice(0, 20)).toEqual([])
  })

  it(`keeps its promises for half a year on one SQLite file (seed ${seed + round})`, async () => {
    const { broken } = await simulateOnSqlite({ seed: seed + round, days: 183 })
    expect(broken.slice(0, 20)).toEqual([])
  })
}
