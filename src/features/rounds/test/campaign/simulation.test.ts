import { expect, it } from 'vitest'
import { simulateInFile, simulateInMemory } from '../../../../../test/simulation/worlds.js'
import { roundWorld } from '../round-world.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const rounds = Number(process.env['ROUNDS'] ?? 10)

for (let round = 0; round < rounds; round++) {
  it(`R2–R11: rounds keep order, timing and promises for two months on the memory store (seed ${seed + round})`, async () => {
    const { broken } = await simulateInMemory({ seed: seed + round, days: 60 }, roundWorld())
    expect(broken.slice(0, 20)).toEqual([])
  })

  it(`R2–R11: rounds keep order, timing and promises for a month on one SQLite file (seed ${seed + round})`, async () => {
    const { broken } = await simulateInFile({ seed: seed + round, days: 30 }, roundWorld())
    expect(broken.slice(0, 20)).toEqual([])
  })
}
