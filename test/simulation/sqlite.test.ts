import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js'
import type { Store } from '../../src/store/store.js'
import { SeededRandom } from '../../src/testing/random.js'
import { simulate } from '../../src/testing/simulation.js'
import { systemClock } from '../../src/time/clock.js'
import { drawTriggers } from './world.js'

const seed = Number(process.env['SEED'] ?? 20260301)
const days = Number(process.env['DAYS'] ?? 31)
const hourMs = 3_600_000

it(`G1–G7: a month of 200 triggers with crashes, daylight saving and clock steps, on one SQLite file (seed ${seed})`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'rota-simulation-'))
  const opened: Store[] = []
  const open = async (): Promise<Store> => {
    const path = join(directory, 'rota.db')
    const store = await openSqliteStore({ path, durability: 'normal', clock: systemClock })
    opened.push(store)
    return withoutHints(store)
  }
  const report = await simulate({
    seed,
    startAt: Date.UTC(2026, 2, 1),
    durationMs: days * 24 * hourMs,
    triggers: drawTriggers(200, new SeededRandom(seed)),
    open,
    processes: 2,
    crashEveryMs: 10 * hourMs,
    stepEveryMs: 100 * hourMs,
    leaseMs: hourMs,
    failure: 0.05,
  })
  console.log(`seed ${seed}: ${report.attempts} attempts, ${report.crashes} crashes, ${report.steps} clock steps, ${report.repeated} runs begun again`)
  expect(report.broken.slice(0, 10)).toEqual([])
  expect(report.crashes).toBeGreaterThan(days / 2)
  for (const store of opened) await store.close()
  await rm(directory, { recursive: true })
}, 300_000)

/** Hints come in real time, which the simulated one does not wait for; the slow poll has to be enough. */
function withoutHints(store: Store): Store {
  return new Proxy(store, {
    get(target, key) {
      if (key === 'watch') return () => () => undefined
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value
    },
  })
}
