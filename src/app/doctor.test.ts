import { describe, expect, it, onTestFinished } from 'vitest'
import { settle } from '../../test/fixtures/engine-stage.js'
import { FakeClock } from '../testing/fake-clock.js'
import type { Finding } from './doctor.js'
import { rota, type Rota } from './rota.js'

const t0 = Date.UTC(2026, 0, 5)
const minute = 60_000

function staged(define: (app: Rota) => void = () => undefined) {
  const clock = new FakeClock(t0)
  const app = rota({ store: 'memory:', clock })
  define(app)
  onTestFinished(async () => {
    const closing = app.close()
    await clock.advance(20_000, settle)
    await closing
  })
  const found = async (check: string): Promise<Finding[]> =>
    (await app.doctor()).filter((finding) => finding.check === check)
  return { app, clock, found, pass: (ms: number) => clock.advance(ms, settle) }
}

const ticking = (app: Rota): void => {
  app.job('work', () => undefined)
  app.schedule('t', { job: 'work', cron: '* * * * *' })
}

describe('rota doctor', () => {
  it('finds nothing wrong with an app that runs', async () => {
    const { app, pass } = staged(ticking)
    await app.start()
    await pass(5 * minute)
    expect((await app.doctor({ deep: true })).filter((finding) => finding.level !== 'ok')).toEqual([])
  })

  it('says that no worker is alive although there is something to do', async () => {
    const { app, found, pass } = staged(ticking)
    await app.start({ roles: { worker: false } })
    await pass(3 * minute)
    expect(await found('worker')).toMatchObject([
      { level: 'warn', todo: expect.stringContaining('rota up') as unknown },
    ])
    expect(await found('jobs')).toMatchObject([
      { level: 'warn', message: expect.stringContaining('work') as unknown },
    ])
  })

  it('says that nobody plans, and whether that is on purpose', async () => {
    const { app, found, pass } = staged(ticking)
    await app.start()
    await app.freeze({ by: 'ann', note: 'works' })
    await pass(3 * minute)
    expect(await found('triggers')).toMatchObject([
      { level: 'warn', todo: expect.stringContaining('held') as unknown },
    ])
    expect(await found('holds')).toMatchObject([
      { level: 'warn', message: expect.stringMatching(/all is held by ann .*works/) as unknown },
    ])
  })

  it('says by how much the clock is behind', async () => {
    const { app, clock, found, pass } = staged(ticking)
    await app.start()
    await pass(5 * minute)
    clock.step(-2 * minute)
    expect(await found('clock')).toMatchObject([
      { level: 'warn', message: expect.stringContaining('2m') as unknown },
    ])
    expect(await found('cursor')).toMatchObject([{ level: 'warn' }])
  })

  it('names runs whose job nobody defines', async () => {
    const { app, found } = staged()
    const store = await app.store()
    const run = { job: 'gone', origin: 'enqueue' as const, dueAt: t0, runAt: t0, priority: 0, gates: [] }
    await store.enqueue({ runs: [{ ...run, id: 'a'.repeat(36) }], now: t0 })
    expect(await found('jobs')).toMatchObject([
      { level: 'warn', message: expect.stringContaining('gone') as unknown },
    ])
  })
})
