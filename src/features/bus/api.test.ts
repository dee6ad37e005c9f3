import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BusProcesses } from './test/bus-process.js'
import { deserted, heard, nine, t0 } from './test/deserted.js'
import { hearWarnings } from '../../../test/fixtures/warnings.js'
import { settle } from '../../../test/fixtures/engine-stage.js'
import type { BusMessage } from './messages.js'
import type { Task } from '../../kernel/run/task.js'
import { rota } from '../../app/rota.js'

describe('N9: a run that no worker takes', () => {
  it('is offered on the bus after the given time, with everything that a subscriber needs', async () => {
    const { app, pass, payload } = await deserted({ bus: { offerAfter: '10s' } })
    const messages: BusMessage[] = []
    app.bus.listen((message) => messages.push(message))
    await pass(60_000 + 9_000)
    expect(heard(messages)).toEqual([])
    await pass(3_000)
    const [run] = await app.runs.list()
    expect(heard(messages).length).toBe(1)
    expect(heard(messages)[0]).toEqual({
      run: run?.id,
      job: 'check',
      trigger: 'job_123',
      attempt: 0,
      dueAt: new Date(nine),
      schedule: '0 9 * * *',
      task: { id: `cron_job_123_${nine}`, type: 'cron', payload },
      waitedMs: expect.any(Number),
      times: 1,
    })
    expect(messages.map(({ name }) => name)).toContain('tick')
  })

  it('is claimed by a subscriber with a worker and lease of its own, and recorded like any other', async () => {
    const { app, pass, store } = await deserted()
    const taken: Task[] = []
    const workers: (string | undefined)[] = []
    app.bus.subscribe({
      jobs: ['*'],
      take: async (task, run) => {
        taken.push(task)
        run.log('took it')
        workers.push((await store.run(run.id))?.worker)
        return run.signal.aborted ? 'stopped' : 'done by a subscriber'
      },
    })
    await pass(60_000 + 20_000)
    const [run] = await app.runs.list()
    expect(taken.map(({ id }) => id)).toEqual([`cron_job_123_${nine}`])
    expect(run).toMatchObject({ state: 'done', attempt: 1, result: 'done by a subscriber' })
    expect(workers[0]).toEqual(expect.any(String))
    expect((await app.runs.attempts(run?.id ?? '')).map(({ end, worker }) => ({ end, worker }))).toEqual([
      { end: 'done', worker: workers[0] },
    ])
    expect((await app.runs.logs(run?.id ?? '')).map(({ text }) => text)).toEqual(['took it'])
    expect(app.pool.counters()).toMatchObject({ submitted: 1, completed: 1, failed: 0 })
    expect((await store.workers()).map(({ id }) => id)).not.toContain(workers[0])
  })

  it('is claimed once if two subscribers race', async () => {
    const { app, pass } = await deserted()
    const taken: string[] = []
    for (const name of ['a', 'b']) {
      app.bus.subscribe({ jobs: ['check'], take: (_, { id }) => void taken.push(`${name} ${id}`) })
    }
    const ids = await Promise.all([1, 2, 3].map(async () => (await app.enqueue('check')).id))
    await pass(20_000)
    expect(taken.map((one) => one.slice(2)).toSorted()).toEqual(ids.toSorted())
    expect(new Set(taken.map((one) => one[0]))).toEqual(new Set(['a', 'b']))
    for (const id of ids) expect(await app.runs.get(id)).toMatchObject({ state: 'done', attempt: 1 })
  })

  it('is offered exactly when it has waited long enough, and again after that time', async () => {
    const { app, clock, pass } = await deserted({ bus: { offerAfter: '3s' } })
    const offers: number[] = []
    app.bus.listen(({ name }) => name === 'run:offered' && offers.push(clock.now() - t0))
    await pass(500)
    await app.enqueue('check', undefined, { at: new Date(t0 + 5_000) })
    await pass(20_000)
    expect(offers).toEqual([8_000, 11_000, 14_000, 17_000, 20_000])
  })

  it('is claimed once each if hundreds wait, without a warning of Node', async () => {
    const heard = hearWarnings()
    const { app, pass } = await deserted()
    const taken: string[] = []
    app.bus.subscribe({ jobs: ['check'], concurrency: 100, take: (_, { id }) => void taken.push(id) })
    const ids = await Promise.all(Array.from({ length: 450 }, async () => (await app.enqueue('check')).id))
    // Each offer leads to the most urgent run, so an offered run may have to wait for the next offer.
    await pass(60_000)
    expect(taken.toSorted()).toEqual(ids.toSorted())
    await heard.settled()
    expect(heard.warnings).toEqual([])
  })

  it('fails by the rules of its job, and is not given to subscribers of other jobs', async () => {
    const { app, pass, store } = await deserted()
    let tries = 0
    app.bus.subscribe({ jobs: ['other'], take: () => expect.unreachable() })
    const { id } = await app.enqueue('check')
    await pass(20_000)
    expect((await app.runs.get(id)).state).toBe('pending')
    app.bus.subscribe({
      jobs: ['check'],
      take: () => {
        tries += 1
        throw new Error('no luck')
      },
    })
    await pass(20_000)
    expect(await store.run(id)).toMatchObject({ state: 'failed', attempt: 1, error: { message: 'no luck' } })
    expect(tries).toBe(1)
  })

  it('is left to workers that claim it in time, also to those that get the job later', async () => {
    const { app, clock, pass } = await deserted()
    const by: string[] = []
    app.bus.subscribe({ jobs: ['*'], take: () => void by.push('subscriber') })
    await app.enqueue('check')
    await pass(20_000)
    expect(by).toEqual(['subscriber'])
    await app.jobs.add({ own: { handler: () => void by.push('worker') } })
    for (let i = 0; i < 3; i++) await app.enqueue('own')
    await clock.advance(20_000, settle)
    expect(by).toEqual(['subscriber', 'worker', 'worker', 'worker'])
  })

  it('is not offered while its queue is paused or everything is frozen', async () => {
    const { app, pass } = await deserted()
    const messages: BusMessage[] = []
    app.bus.listen((message) => messages.push(message))
    await app.enqueue('check')
    await app.queues.pause('default')
    await pass(20_000)
    expect(heard(messages)).toEqual([])
    await app.freeze()
    await app.queues.resume('default')
    await pass(20_000)
    expect(heard(messages)).toEqual([])
    await app.thaw()
    await pass(20_000)
    expect(heard(messages).length).toBeGreaterThan(0)
  })

  it('is released when the app of the subscriber stops', async () => {
    const { app, clock, pass, store } = await deserted()
    app.bus.subscribe({
      jobs: ['*'],
      take: (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
    })
    const ends: string[] = []
    app.on('run:ended', ({ end }) => ends.push(end))
    const { id } = await app.enqueue('check')
    await pass(20_000)
    expect((await store.run(id))?.state).toBe('running')
    const stopping = app.stop({ grace: '1s' })
    await clock.advance(20_000, settle)
    await stopping
    expect(ends).toEqual(['released'])
  })

  it('is still reported to other listeners if one throws', async () => {
    const { app, pass } = await deserted()
    const troubles: string[] = []
    let count = 0
    app.on('trouble', ({ where }) => troubles.push(where))
    app.bus.listen(() => {
      throw new Error('a bad listener')
    })
    app.bus.listen(() => void (count += 1))
    await pass(61_000)
    expect(count).toBeGreaterThan(0)
    expect(troubles).toContain('bus listener of tick')
  })
})

describe('N9: a command that nobody takes', () => {
  it('is subscribed to by names', async () => {
    const { app } = await deserted()
    const take = (): void => undefined
    expect(() => app.bus.subscribe({ take })).toThrow(
      /it has neither jobs nor commands \(allowed: jobs, commands\)/,
    )
    expect(() => app.bus.subscribe({ commands: [], take })).toThrow(/commands: a list is not a list of names/)
    expect(() => app.bus.subscribe({ commands: ['say hello'], take })).toThrow(/commands\[0\]/)
  })
})

describe.each(['sqlite', 'files'])('N9: a subscriber in another process, on %s,', (kind) => {
  it('hears of new runs without its slow poll, and loses its run if it is killed', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rota-bus-'))
    const store = `${kind}:${join(directory, 'store')}`
    const processes = new BusProcesses(store)
    const app = rota({ store, app: 'owner', durability: 'normal' })
    app.job('check', () => expect.unreachable())
    onTestFinished(async () => {
      await processes.kill()
      await app.close()
      await rm(directory, { recursive: true, force: true })
    })
    const first = await processes.start({ role: 'subscriber', isPolling: false, isStuck: true })
    const { id } = await app.enqueue('check')
    await processes.until(() => processes.taken.length === 1)
    await processes.kill(first)
    const second = await processes.start({ role: 'subscriber', isPolling: false })
    expect(await app.runs.wait(id)).toMatchObject({ state: 'done', attempt: 2, crashes: 1 })
    expect(processes.taken.map(({ pid, run, attempt }) => ({ pid, run, attempt }))).toEqual([
      { pid: first, run: id, attempt: 1 },
      { pid: second, run: id, attempt: 2 },
    ])
    expect((await app.runs.attempts(id)).map(({ end }) => end)).toEqual(['lost', 'done'])
  })
})
