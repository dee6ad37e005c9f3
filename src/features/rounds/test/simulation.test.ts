import { expect, it } from 'vitest'
import { simulateInFile, simulateInMemory } from '../../../../test/simulation/worlds.js'
import { roundWorld } from './round-world.js'

const seed = Number(process.env['SEED'] ?? 20260105)
const days = Number(process.env['DAYS'] ?? 9)

it(`R2–R11: rounds of processes that crash after any store call keep order, timing and guarantees, on the memory store (seed ${seed})`, async () => {
  const report = await simulateInMemory({ seed, days }, roundWorld())
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.crashes).toBeGreaterThan(days)
}, 300_000)

it(`R2–R11: the same on one SQLite file (seed ${seed})`, async () => {
  const report = await simulateInFile({ seed, days: days / 3 }, roundWorld())
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.crashes).toBeGreaterThan(days / 3)
}, 300_000)
