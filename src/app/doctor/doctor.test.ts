import { describe, expect, it, onTestFinished } from 'vitest'
import { settle } from '../../../test/fixtures/engine-stage.js'
import { runIdOf } from '../../kernel/identity/identity.js'
import { FakeClock } from '../../testing/fake-clock.js'
import type { Finding } from './doctor.js'
import { rota, type Rota } from '../rota.js'

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
  it('finds no problem with a running app', async () => {
    const { app, pass } = staged(ticking)
    await app.start()
    await pass(5 * minute)
    expect((await app.doctor({ deep: true })).filter((finding) => finding.level !== 'ok')).toEqual([])
  })

  it('warns that no worker is alive if there are runs', async () => {
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

  it('warns that no scheduler plans, and reports whether planning is held', async () => {
    const { app, found, pass } = staged(ticking)
    await app.start()
    await app.freeze({ by: 'ann', reason: 'works' })
    await pass(3 * minute)
    expect(await found('triggers')).toMatchObject([
      { level: 'warn', todo: expect.stringContaining('held') as unknown },
    ])
    expect(await found('holds')).toMatchObject([
      { level: 'warn', message: expect.stringMatching(/all is held by ann .*works/) as unknown },
    ])
  })

  it('reports by how much the clock is behind', async () => {
    const { app, clock, found, pass } = staged(ticking)
    await app.start()
    await pass(5 * minute)
    clock.step(-2 * minute)
    expect(await found('clock')).toMatchObject([
      { level: 'warn', message: expect.stringContaining('2m') as unknown },
    ])
    expect(await found('cursor')).toMatchObject([{ level: 'warn' }])
  })

  it('names the reasons why due runs wait, and what to do', async () => {
    const { app, found, pass } = staged((app) => app.job('work', { command: ['true'], queue: 'slow' }))
    await app.start({ roles: { worker: false } })
    await app.enqueueMany('work', [1, 2])
    expect(await found('jobs')).toMatchObject([{ level: 'ok' }])
    await pass(2 * minute)
    expect(await found('jobs')).toMatchObject([
      {
        message: '2 runs of work have been due for over a minute: no worker is alive',
        todo: expect.stringContaining('rota up') as unknown,
      },
    ])
    await app.queues.pause('slow', { by: 'ann' })
    expect(await found('jobs')).toMatchObject([
      {
        message: expect.stringMatching(/queue slow is paused by ann/) as unknown,
        todo: '`rota resume --queue slow` ends it',
      },
    ])
  })

  it('does not warn about runs that are due later', async () => {
    const { app, found } = staged((app) => app.job('work', { command: ['true'] }))
    await app.start()
    await app.enqueueMany('work', [1, 2], { delay: '1h' })
    expect(await found('jobs')).toMatchObject([{ level: 'ok' }])
  })

  it('names the failures of the last day, until a later success', async () => {
    let isBroken = true
    const { app, found, pass } = staged((app) => {
      app.job('work', () => {
        if (isBroken) throw new Error('no disk')
      })
      app.schedule('t', { job: 'work', cron: '0 * * * *' })
    })
    await app.start()
    await pass(2 * 60 * minute + minute)
    const [newest] = await app.runs.list({ trigger: 't' })
    expect(await found('failures')).toMatchObject([
      {
        level: 'warn',
        message: 't: 2 runs, the newest failed 1m ago: no disk [HANDLER_FAILED]',
        todo: expect.stringContaining(`rota retry ${newest?.id}`) as unknown,
      },
    ])
    isBroken = false
    await pass(60 * minute)
    expect(await found('failures')).toMatchObject([{ level: 'ok' }])
  })

  it('advises by cause: a timed-out run needs another timeout', async () => {
    const { app, found, pass } = staged((app) =>
      app.job('slow', (run) => new Promise((resolve) => run.signal.addEventListener('abort', resolve)), {
        timeout: '5s',
      }),
    )
    await app.start()
    await app.enqueue('slow')
    await pass(minute)
    expect(await found('failures')).toMatchObject([
      {
        message: expect.stringContaining('[TIMED_OUT]') as unknown,
        todo: expect.stringMatching(/^raise the timeout/) as unknown,
      },
    ])
  })

  it('names a run that takes much longer than earlier ones', async () => {
    let isStuck = false
    const { app, found, pass } = staged((app) => {
      app.job('work', async (run) => {
        if (isStuck) await new Promise((resolve) => run.signal.addEventListener('abort', resolve))
      })
      app.schedule('t', { job: 'work', cron: '* * * * *' })
    })
    await app.start()
    await pass(10 * minute)
    isStuck = true
    await pass(90_000)
    expect(await found('runs')).toMatchObject([{ level: 'ok' }])
    await pass(5 * minute)
    const [running] = await app.runs.list({ state: 'running' })
    expect(await found('runs')).toMatchObject([
      {
        level: 'warn',
        message: expect.stringContaining(`run ${running?.id} of t has been running for`) as unknown,
      },
    ])
    expect(await found('skips')).toMatchObject([{ level: 'ok' }])
    await pass(10 * minute)
    expect(await found('skips')).toMatchObject([
      {
        message: expect.stringContaining('because the previous run was unfinished') as unknown,
        todo: expect.stringContaining('overlap') as unknown,
      },
    ])
  })

  it('names runs whose job is not defined', async () => {
    const { app, found } = staged()
    const store = await app.store()
    const run = { job: 'gone', origin: 'enqueue' as const, dueAt: t0, runAt: t0, priority: 0, slots: [] }
    await store.enqueue({ runs: [{ ...run, id: runIdOf({ at: t0, parts: ['a'] }) }], now: t0 })
    expect(await found('jobs')).toMatchObject([
      { level: 'warn', message: expect.stringContaining('gone') as unknown },
    ])
  })
})
