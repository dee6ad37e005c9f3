import { describe, expect, test } from 'vitest'
import type { SimulateOptions } from '../src/app/simulate/app-simulation.js'
import { createApp, type App } from '../src/app/rota.js'
import { openMemoryStore } from '../src/store/memory/memory-store.js'
import { sharedStores } from '../src/store/memory/shared-stores.js'
import { emptyTables, type Tables } from '../src/store/memory/tables.js'
import { FakeClock } from '../src/testing/fake-clock.js'

const from = Date.UTC(2026, 0, 5)

describe('app.simulate', () => {
  test('counts the runs of a week, and writes and calls nothing', async () => {
    let calls = 0
    const app = appOf({}, (made) => {
      made.cron('daily', '0 3 * * *', () => void (calls += 1))
      made.cron('hourly', '0 * * * *', () => void (calls += 1))
    })
    const result = await app.simulate({ duration: '7d' })
    expect(result).toMatchObject({ runs: 7 + 7 * 24, failed: 0, crashes: 0, fromAt: from })
    expect(result.maxRunning).toEqual({ count: 2, at: Date.UTC(2026, 0, 5, 3) })
    expect(result.spans).toHaveLength(7 * 24)
    expect(calls).toBe(0)
    expect(await app.runs.list({})).toEqual([])
    await app.close()
  })

  test('too few slots make runs late, and a slow trigger overlaps itself', async () => {
    const app = appOf({ concurrency: 1 }, (made) => {
      made.job('slow', () => undefined)
      for (const name of ['a', 'b', 'c']) made.schedule(name, { job: 'slow', cron: '0 * * * *' })
      made.schedule('often', { job: 'slow', every: '1m' })
    })
    const result = await app.simulate({ duration: '1d', unknown: '90s' })
    const often = result.triggers.find(({ trigger }) => trigger === 'often')
    expect(often?.notRun['overlap']).toBeGreaterThan(100)
    expect(result.late.maxMs).toBeGreaterThanOrEqual(180_000)
    expect(result.maxRunning.count).toBe(1)
    expect(result.used).toBeGreaterThan(0.7)
    await app.close()
  })

  test('takes durations and failures from the history, and the same seed gives the same result', async () => {
    const clock = new FakeClock(from)
    let tables: Tables | undefined
    sharedStores.set('history', (effects) => openMemoryStore((tables ??= emptyTables(effects))))
    const options = { app: 'history', store: 'memory:history', clock }
    const define = (app: App): App => {
      app.cron(
        'flaky',
        '*/5 * * * *',
        async (run) => {
          await clock.sleep(run.dueAt.getMinutes() % 2 === 0 ? 4000 : 8000, run.signal)
          if (run.dueAt.getMinutes() % 10 === 0) throw new Error('every second one fails')
        },
        { retry: { attempts: 1 } },
      )
      app.schedule('once', { job: 'flaky', at: new Date(from + 60_000) })
      return app
    }
    const first = define(createApp(options, 'code:history'))
    await first.start()
    await clock.advance('6h1m')
    await first.stop()
    const second = define(createApp(options, 'code:history'))
    const result = await second.simulate({ duration: '2d' })
    const flaky = result.triggers.find(({ trigger }) => trigger === 'flaky')
    expect(flaky).toMatchObject({ runs: 2 * 288 })
    expect(flaky?.knownRuns).toBeGreaterThan(10)
    expect(flaky?.failed).toBeGreaterThan(100)
    expect(result.triggers.find(({ trigger }) => trigger === 'once')?.runs ?? 0).toBe(0)
    expect(await second.simulate({ duration: '2d' })).toEqual(result)
    await second.close()
    sharedStores.delete('history')
  })

  test('a trigger that fails too often in a row is paused, also if its runs are days apart', async () => {
    const clock = new FakeClock(from)
    let tables: Tables | undefined
    sharedStores.set('failing', (effects) => openMemoryStore((tables ??= emptyTables(effects))))
    const app = createApp({ app: 'failing', store: 'memory:failing', clock }, 'code:failing')
    app.job('broken', () => Promise.reject(new Error('always')), { retry: { attempts: 1 } })
    app.schedule('daily', { job: 'broken', cron: '0 3 * * *', pauseAfter: 3 })
    await app.start()
    await clock.advance('4h')
    const { triggers } = await app.simulate({ duration: '30d' })
    // The first failure was before the simulation, which begins at 04:00.
    expect(triggers).toMatchObject([
      { trigger: 'daily', runs: 3, failed: 3, pausedAt: Date.UTC(2026, 0, 8, 3) },
    ])
    await app.stop()
    sharedStores.delete('failing')
  })

  test('a crash repeats attempts and loses no run', async () => {
    const app = appOf({}, (made) => {
      made.cron('hourly', '0 * * * *', () => undefined, { overlap: 'queue-all' })
    })
    const result = await app.simulate({ duration: '1d', crashEvery: '1h', processes: 2, unknown: '20m' })
    expect(result.crashes).toBeGreaterThan(5)
    expect(result.runs).toBe(24)
    await app.close()
  })

  test.each([
    [{ duration: '1s' }, 'from 1m to 732d'],
    [{ duration: 'soon' }, 'duration'],
    [{ seed: -1 }, 'seed'],
    [{ processes: 1000 }, 'processes'],
    [{ days: 7 }, 'days'],
  ])('refuses %j', async (options, message) => {
    const app = appOf({}, () => undefined)
    await expect(app.simulate(options as SimulateOptions)).rejects.toThrow(message)
    await app.close()
  })
})

function appOf(options: { concurrency?: number }, define: (app: App) => void): App {
  const app = createApp(
    { app: 'test', store: 'memory:', clock: new FakeClock(from), ...options },
    'code:test',
  )
  define(app)
  return app
}
