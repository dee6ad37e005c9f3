import { expect, it } from 'vitest'
import { openMemoryStore } from '../../src/store/memory/memory-store.js'
import { emptyTables } from '../../src/store/memory/tables.js'
import { SeededRandom } from '../../src/testing/random.js'
import { simulate } from '../../src/testing/simulation.js'
import { drawTriggers } from './world.js'

const seed = Number(process.env['SEED'] ?? 20260105)
const days = Number(process.env['DAYS'] ?? 365)
const hourMs = 3_600_000

it(`G1–G7: a year of 300 triggers with crashes, daylight saving and clock steps, on the memory store (seed ${seed})`, async () => {
  const tables = emptyTables()
  const report = await simulate({
    seed,
    startAt: Date.UTC(2026, 0, 5),
    durationMs: days * 24 * hourMs,
    triggers: drawTriggers(300, new SeededRandom(seed)),
    open: () => Promise.resolve(openMemoryStore(tables)),
    processes: 2,
    crashEveryMs: 30 * hourMs,
    stepEveryMs: 200 * hourMs,
    leaseMs: hourMs,
    failure: 0.05,
  })
  console.log(`seed ${seed}: ${report.attempts} attempts, ${report.crashes} crashes, ${report.steps} clock steps, ${report.repeated} runs begun again`)
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.crashes).toBeGreaterThan(days / 4)
}, 300_000)
