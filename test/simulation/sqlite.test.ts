import { expect, it } from 'vitest'
import { simulateOnSqlite } from './worlds.js'

const seed = Number(process.env['SEED'] ?? 20260301)
const days = Number(process.env['DAYS'] ?? 31)
const count = Number(process.env['TRIGGERS'] ?? 30)

it(`G1–G7: ${days} days of ${count} triggers with crashes, daylight saving and clock steps, on one SQLite file (seed ${seed})`, async () => {
  const report = await simulateOnSqlite({ seed, days, count })
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.crashes).toBeGreaterThan(days / 2)
}, 300_000)
