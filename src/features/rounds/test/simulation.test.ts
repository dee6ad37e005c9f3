import { expect, it } from 'vitest'
import { simulateRoundsOnMemory, simulateRoundsOnSqlite } from '../../../../test/simulation/worlds.js'

const seed = Number(process.env['SEED'] ?? 20260105)
const days = Number(process.env['DAYS'] ?? 30)

it(`R2–R11: rounds of processes that die after any call of the store keep order, timing and promises, on the memory store (seed ${seed})`, async () => {
  const report = await simulateRoundsOnMemory({ seed, days })
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.crashes).toBeGreaterThan(days)
}, 300_000)

it(`R2–R11: the same on one SQLite file (seed ${seed})`, async () => {
  const report = await simulateRoundsOnSqlite({ seed, days: days / 3 })
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.crashes).toBeGreaterThan(days / 3)
}, 300_000)
