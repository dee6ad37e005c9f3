import { expect, it } from 'vitest'
import { simulateOnFiles } from './worlds.js'

const seed = Number(process.env['SEED'] ?? 20260327)
const days = Number(process.env['DAYS'] ?? 5)

it(`G1–G7: days of 50 triggers with crashes, daylight saving and clock steps, on a directory of files (seed ${seed})`, async () => {
  const report = await simulateOnFiles({ seed, days, count: 50 })
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.crashes).toBeGreaterThan(days / 2)
}, 300_000)
