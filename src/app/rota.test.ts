import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { settle } from '../../test/fixtures/engine-stage.js'
import { FakeClock } from '../testing/fake-clock.js'
import { rota, type Rota } from './rota.js'
import type { JobRef } from '../kernel/job/job-ref.js'
import type { RotaOptions } from './rota-options.js'

const t0 = Date.UTC(2026, 0, 5)
const minute = 60_000

function staged(options: RotaOptions = {}) {
  const clock = new FakeClock(t0)
  const app = rota({ store: 'memory:', clock, ...options })
  onTestFinished(async () => {
    const closing = app.close()
    await clock.advance(20_000, settle)
    await closing
  })
  const pass = (ms: number): Promise<void> => clock.advance(ms, settle)
  return { app, clock, pass }
}

async function aDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rota-app-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

describe('an app before its start', () => {
  it('records runs that are performed once it is started', async () => {
    const { app, pass } = staged()
    const done: unknown[] = []
    const mail = app.job<{ to: string }>('mail', (run) => void done.push(run.payload.to))
    expectTypeOf(mail).toEqualTypeOf<JobRef<{ to: string }>>()
    const { id, created } = await app.enqueue(mail, { to: 'ann' })
    expect(created).toBe(true)
    expect((await app.runs.get(id)).state).toBe('pending')
    await app.start()
    await pass(0)
    expect(done).toEqual(['ann'])
    expect((await app.runs.wait(id)).state).toBe('done')
  })

  it('writes jobs that were defined after its first enqueue', async () => {
    const { app } = staged()
    app.job('one', () => undefined)
    await app.enqueue('one')
    app.job('two', () => undefined)
    await app.enqueue('two')
    expect((await app.jobs.list()).map(({ job }) => job.name)).toEqual(['one', 'two'])
  })

  it('throws for every caller, not only the first, if a job belongs to another source', async () => {
    const directory = await aDirectory()
    const store = `sqlite:${join(directory, 'rota.db')}`
    const owner = rota({ store, app: 'owner' })
    owner.job('mail', () => undefined)
    await owner.enqueue('mail')
    await owner.close()
    const other = rota({ store, app: 'other' })
    other.job('mail', () => undefined)
    for (let i = 0; i < 2; i++) {
      await expect(other.enqueue('mail')).rejects.toMatchObject({ code: 'DEFINITION_CONFLICT' })
    }
    await other.close()
  })

  it('refuses an undefined job, and triggers of one', async () => {
    const { app } = staged()
    await expect(app.enqueue('nobody')).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
    app.schedule('t', { job: 'nobody', cron: '* * * * *' })
    app.schedule('u', { job: 'nothing', cron: '* * * * *' })
    await expect(app.start()).rejects.toMatchObject({
      code: 'DEFINITION_INVALID',
      faults: [{ path: 'triggers.t.job' }, { path: 'triggers.u.job' }],
    })
    // The fault can be corrected.
    app.job('nobody', () => undefined)
    app.job('nothing', () => undefined)
    await app.start()
  })

  it('refuses a schedule whose last year is over, wherever it is defined', async () => {
    const { app } = staged()
    const over = { job: 'report', cron: '0 0 9 1 6 ? 2025' }
    const refusal = (name: string) => ({
      code: 'DEFINITION_INVALID',
      faults: [{ path: `triggers.${name}.cron`, message: 'it has no instant after 2026-01-05T00:00:00Z' }],
    })
    app.job('report', () => undefined)
    await app.start()
    await expect(app.triggers.add({ added: over })).rejects.toMatchObject(refusal('added'))
    const { app: other } = staged()
    other.job('report', () => undefined)
    other.schedule('coded', over)
    await expect(other.start()).rejects.toMatchObject(refusal('coded'))
  })

  it('does not use a job of an earlier release of itself', async () => {
    const store = `sqlite:${join(await aDirectory(), 'rota.db')}`
    const before = rota({ store })
    before.job('old', () => undefined)
    await before.enqueue('old')
    await before.close()
    const after = rota({ store })
    after.schedule('t', { job: 'old', cron: '* * * * *' })
    await expect(after.start()).rejects.toMatchObject({ code: 'DEFINITION_INVALID' })
    await after.close()
  })

  it('cron defines a job and its trigger, with the options of both, or nothing', async () => {
    const { app } = staged()
    expect(() => app.cron('nightly', '0 25 * * *', () => undefined)).toThrow(/cron/)
    expect(() => app.cron('nightly', '@daily', () => undefined, { tries: 3 } as never)).toThrow(/tries/)
    const job = app.cron('nightly', '0 2 * * *', () => undefined, { timezone: 'Europe/Berlin', retry: 3 })
    expect(job).toEqual({ name: 'nightly' })
    await app.start({ roles: { worker: false } })
    const { trigger } = await app.triggers.get('nightly')
    expect(trigger).toMatchObject({ job: 'nightly', schedule: { timezone: 'Europe/Berlin' } })
    expect((await app.jobs.get('nightly')).job.retry.attempts).toBe(3)
  })

  it('can be started only once, and accepts no definitions by code afterwards', async () => {
    const { app } = staged()
    const [first, second] = await Promise.allSettled([app.start(), app.start()])
    expect(first.status).toBe('fulfilled')
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'ALREADY_STARTED' } })
    expect(() => app.job('late', () => undefined)).toThrow(/app.jobs.add/)
  })
})

describe('the store of an app', () => {
  it.each([
    ['no address at all', 'data/rota.db'],
    ['an unknown scheme', 'mysql://host/db'],
    ['a path that is missing', 'sqlite:'],
  ])('%s is refused by name', async (_, store) => {
    await expect(rota({ store }).runs.list()).rejects.toMatchObject({ code: 'STORE_URL' })
  })

  it('is not created with `create: false`', async () => {
    const store = `sqlite:${join(await aDirectory(), 'none.db')}`
    const app = rota({ store, create: false })
    await expect(app.runs.list()).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
    // The next call tries to open it again.
    await rota({ store }).close()
    const maker = rota({ store })
    await maker.runs.list()
    await maker.close()
    expect(await app.runs.list()).toEqual([])
    await app.close()
  })

  it('refuses calls after the close, and answers earlier ones', async () => {
    const app = rota({ store: `sqlite:${join(await aDirectory(), 'rota.db')}` })
    app.job('work', () => undefined)
    await app.runs.list()
    const asked = Promise.all(Array.from({ length: 50 }, () => app.enqueue('work')))
    await settle()
    await Promise.all([app.close(), app.close()])
    expect(await asked).toHaveLength(50)
    for (const ask of [() => app.runs.list(), () => app.enqueue('work'), () => app.start()]) {
      await expect(ask()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    }
  })
})

describe('a running app', () => {
  async function started(define: (app: Rota) => void) {
    const stage = staged()
    define(stage.app)
    await stage.app.start()
    await stage.pass(0)
    return stage
  }

  it('add and remove take effect immediately', async () => {
    const begun: string[] = []
    const { app, pass } = await started(() => undefined)
    await pass(500)
    await app.triggers.add(
      { often: { job: 'ping', every: '1s' } },
      { jobs: { ping: { handler: (run: { trigger: string }) => void begun.push(run.trigger) } } },
    )
    await pass(3000)
    expect(begun).toEqual(['often', 'often', 'often'])
    expect(await app.triggers.remove('often')).toMatchObject({ trigger: { name: 'often' } })
    await pass(minute)
    expect(begun).toHaveLength(3)
    expect(await app.jobs.remove('ping')).toMatchObject({ job: { name: 'ping' } })
  })

  it('add reports all faults of all definitions, and changes nothing then', async () => {
    const { app } = await started(() => undefined)
    const jobs = { a: { command: [] as string[] }, b: { command: ['x'], timeout: 'never' } }
    await expect(app.triggers.add({ t: { job: 'b', cron: 'nonsense' } }, { jobs })).rejects.toMatchObject({
      code: 'DEFINITION_INVALID',
      faults: [{ path: 'jobs.a.command' }, { path: 'jobs.b.timeout' }, { path: 'triggers.t.cron' }],
    })
    expect(await app.jobs.list()).toEqual([])
  })

  it('an existing name is a conflict unless it is replaced; definitions of code cannot be removed', async () => {
    const { app } = await started((one) => one.job('mine', () => undefined))
    await app.jobs.add({ ping: { command: ['true'] } })
    await expect(app.jobs.add({ ping: { command: ['true'] } })).rejects.toMatchObject({
      code: 'DEFINITION_CONFLICT',
    })
    await app.jobs.add({ ping: { command: ['false'] } }, { replace: true })
    await expect(app.jobs.remove('mine')).rejects.toMatchObject({ code: 'DEFINITION_CONFLICT' })
    await expect(app.jobs.remove('nothing')).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
    await expect(app.triggers.remove('nothing')).rejects.toMatchObject({ code: 'TRIGGER_UNKNOWN' })
  })

  it('runNow runs a trigger’s job without changing its schedule', async () => {
    const payloads: unknown[] = []
    const { app, pass } = await started((one) => {
      one.job('work', (run) => void payloads.push(run.payload))
      one.schedule('t', { job: 'work', cron: '0 0 1 1 *', payload: { from: 'trigger' } })
    })
    const [before] = await app.triggers.list()
    const { id } = await app.triggers.runNow('t')
    await app.triggers.runNow('t', { payload: { from: 'hand' } })
    await app.triggers.runNow('t', { payload: null })
    await pass(0)
    await app.jobs.runNow('work')
    await pass(0)
    expect(payloads).toEqual([{ from: 'trigger' }, { from: 'hand' }, null, undefined])
    expect(await app.runs.get(id)).toMatchObject({ origin: 'manual', trigger: 't', state: 'done' })
    expect((await app.triggers.list())[0]?.cursorAt).toEqual(before?.cursorAt)
    await expect(app.triggers.runNow('nobody')).rejects.toMatchObject({ code: 'TRIGGER_UNKNOWN' })
    await expect(app.jobs.runNow('nobody')).rejects.toMatchObject({ code: 'JOB_UNKNOWN' })
  })

  it('wait resolves with the final run, or with the current run when its signal aborts', async () => {
    let end: () => void = () => undefined
    const { app, pass } = await started((one) => {
      one.job('work', () => new Promise<void>((resolve) => (end = resolve)))
    })
    const { id } = await app.enqueue('work')
    await pass(0)
    const controller = new AbortController()
    const given = app.runs.wait(id, { signal: controller.signal })
    const waited = app.runs.wait(id)
    controller.abort()
    expect((await given).state).toBe('running')
    end()
    await pass(0)
    expect((await waited).state).toBe('done')
    await expect(app.runs.wait('nobody')).rejects.toMatchObject({ code: 'RUN_UNKNOWN' })
  })

  it('the result of an enqueued run is that of its handler, and an error if it failed or was cancelled', async () => {
    const { app, pass } = await started((one) => {
      one.job('add', ({ payload }) => (payload as number) + 1)
      one.job('fail', () => Promise.reject(new Error('no luck')))
    })
    const run = await app.enqueue('add', 1)
    expect(run).toEqual({ id: run.id, created: true })
    const result = run.result()
    await pass(0)
    expect(await result).toBe(2)
    const failed = await app.enqueue('fail')
    await pass(0)
    await expect(failed.result()).rejects.toMatchObject({ code: 'HANDLER_FAILED', message: 'no luck' })
    const cancelled = await app.enqueue('add', 1, { delay: '1h' })
    await app.runs.cancel(cancelled.id, { reason: 'not needed' })
    await expect(cancelled.result()).rejects.toMatchObject({ code: 'CANCELLED', message: 'not needed' })
    const later = await app.enqueue('add', 1, { delay: '1h' })
    const aborted = AbortSignal.abort(new Error('enough'))
    await expect(later.result({ signal: aborted })).rejects.toThrow('enough')
  })

  it('a unique key can be used again in the millisecond in which its run has ended', async () => {
    const { app, pass } = await started((one) => one.job('work', () => undefined))
    const first = await app.enqueue('work', undefined, { uniqueKey: 'k' })
    await pass(0)
    const second = await app.enqueue('work', undefined, { uniqueKey: 'k' })
    expect([first.created, second.created]).toEqual([true, true])
  })

  it('a handler may enqueue while the app is being stopped', async () => {
    const { app, pass } = await started((one) => {
      one.job('second', () => undefined)
      one.job('first', async () => {
        await one.store().then((store) => store.health({ now: t0 }))
        await one.enqueue('second')
      })
    })
    await app.enqueue('first')
    const stopping = app.stop()
    await pass(1000)
    await stopping
  })

  it('stop releases the remaining runs after the grace period; during the start it leaves nothing running', async () => {
    const directory = await aDirectory()
    const app = rota({ store: `sqlite:${join(directory, 'rota.db')}` })
    app.job('work', () => undefined)
    const starting = app.start()
    const stopping = app.stop()
    await Promise.allSettled([starting, stopping])
    expect(app.isReady).toBe(false)
  })

  it('pause, freeze and switches return whether they changed something, and refuse unknown names', async () => {
    const { app } = await started((one) => {
      one.job('work', () => undefined)
      one.schedule('t', { job: 'work', cron: '* * * * *' })
    })
    expect([
      await app.triggers.pause('t'),
      await app.triggers.pause('t'),
      await app.triggers.resume('t'),
      await app.triggers.resume('t'),
    ]).toEqual([true, false, true, false])
    expect([await app.freeze({ by: 'ann' }), await app.thaw()]).toEqual([true, true])
    expect([await app.switches.off('worker'), await app.switches.on('worker')]).toEqual([true, true])
    expect([await app.queues.pause('default'), await app.queues.resume('default')]).toEqual([true, true])
    await expect(app.triggers.pause('nobody')).rejects.toMatchObject({ code: 'TRIGGER_UNKNOWN' })
    await expect(app.queues.pause('nowhere')).rejects.toMatchObject({ code: 'DEFINITION_INVALID' })
    for (const until of [new Date(t0 - 1), new Date(NaN)]) {
      await expect(app.triggers.pause('t', { until })).rejects.toMatchObject({ code: 'DEFINITION_INVALID' })
    }
  })

  it('cancel and retry refuse runs in the wrong state', async () => {
    const { app, pass } = await started((one) => one.job('work', () => undefined))
    const { id } = await app.enqueue('work')
    await pass(0)
    await expect(app.runs.cancel(id)).rejects.toMatchObject({ code: 'RUN_STATE' })
    await expect(app.runs.retry(id)).rejects.toMatchObject({ code: 'RUN_STATE' })
    await expect(app.runs.cancel('0000')).rejects.toMatchObject({ code: 'RUN_UNKNOWN' })
  })
})

describe('the clock at the start', () => {
  it('more than a year beyond the store is refused before anything is written', async () => {
    const store = `sqlite:${join(await aDirectory(), 'rota.db')}`
    const define = (clock: FakeClock): Rota => {
      const app = rota({ store, clock })
      app.job('work', () => undefined)
      app.schedule('t', { job: 'work', cron: '* * * * *' })
      return app
    }
    const first = define(new FakeClock(t0))
    await first.start({ roles: { worker: false } })
    await first.enqueue('work')
    await first.close()
    const later = new FakeClock(t0 + 400 * 86_400_000)
    const second = define(later)
    await expect(second.start()).rejects.toMatchObject({ code: 'CLOCK_JUMP' })
    expect((await second.triggers.list())[0]?.cursorAt.getTime()).toBeLessThan(t0 + 60_000)
    const accepted = second.start({ acceptClock: true, roles: { worker: false } })
    const started = accepted.then(() => true)
    while ((await Promise.race([started, settle()])) !== true) await later.advance(1000, settle)
    await second.close()
  })
})

describe('an invalid definition', () => {
  const nothing = null as never
  it.each<[string, (app: Rota) => unknown]>([
    ['job', (app) => app.job(nothing, () => undefined)],
    ['job with no handler', (app) => app.job('j', nothing)],
    ['job', (app) => app.job('j', nothing)],
    ['schedule', (app) => app.schedule('t', nothing)],
    ['schedule of no job', (app) => app.schedule('t', { every: '1h', job: nothing })],
    ['jobs.remove', (app) => app.jobs.remove(nothing)],
    ['triggers.remove', (app) => app.triggers.remove(nothing)],
    ['enqueue options', (app) => app.enqueue('work', 1, nothing)],
    ['triggers.runNow', (app) => app.triggers.runNow(nothing)],
    ['jobs.runNow', (app) => app.jobs.runNow(nothing)],
  ])('is refused with a code by %s', async (_, act) => {
    const { app } = staged()
    app.job('work', () => undefined)
    const acted = async (): Promise<unknown> => await act(app)
    await expect(acted()).rejects.toMatchObject({ name: 'RotaError', code: expect.any(String) as unknown })
  })
})
