import { expect, it } from 'vitest'
import { simulateOnMemory } from './worlds.js'

const seed = Number(process.env['SEED'] ?? 20260105)
// Until May the clocks of some zones go forward and those of others back; the campaign simulates years.
const days = Number(process.env['DAYS'] ?? 120)
const count = Number(process.env['TRIGGERS'] ?? 60)

it(`G1–G7: ${days} days of ${count} triggers with crashes, daylight saving and clock steps, on the memory store (seed ${seed})`, async () => {
  const report = await simulateOnMemory({ seed, days, count })
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.crashes).toBeGreaterThan(days / 4)
}, 300_000)
