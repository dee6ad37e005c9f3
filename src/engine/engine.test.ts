import { describe, expect, it } from 'vitest'
import {
  changed,
  hour,
  minute,
  second,
  settle,
  Stage,
  t0,
  total,
  troubled,
  Work,
  type Cast,
} from '../../test/fixtures/engine-stage.js'
import { RotaError } from '../model/errors.js'
import type { NewRun, Run } from '../model/run.js'
import type { RunContext } from './perform.js'

const plain = { job: 'work', origin: 'enqueue' as const, dueAt: t0, runAt: t0, priority: 0, gates: [] }

async function enqueue(stage: Stage, ...letters: readonly string[]): Promise<string[]> {
  const runs = letters.map((letter): NewRun => ({ ...plain, id: letter.repeat(36), payload: letter }))
  await stage.store.enqueue({ runs, now: stage.clock.now() })
  await settle()
  return runs.map((run) => run.id)
}

async function one(stage: Stage, id: string | undefined): Promise<Run> {
  return (await stage.store.run(id ?? '')) as Run
}

async function ends(stage: Stage, id: string | undefined): Promise<(string | undefined)[]> {
  return (await stage.store.attempts(id ?? '')).map((attempt) => attempt.end)
}

describe('a lease', () => {
  it('G4: the runs of a dead worker are taken over once, within the lease and a little more', async () => {
    const stage = new Stage()
    const work = new Work()
    const cast: Cast = { jobs: { work: work.handler }, concurrency: 5 }
    const dead = await stage.process(cast)
    const [id] = await enqueue(stage, 'a')
    const others = [await stage.process(cast), await stage.process(cast)]
    dead.kill()
    await stage.pass(30 * second)
    expect(work.begun).toHaveLength(1)
    await stage.pass(5 * second)
    expect(work.begun.map((run) => run.attempt)).toEqual([1, 2])
    expect(others.flatMap((process) => process.of('run:lost'))).toMatchObject([{ run: id, state: 'pending' }])
    await work.end(1)
    expect(await ends(stage, id)).toEqual(['lost', 'done'])
    await stage.pass(hour)
    expect(work.begun).toHaveLength(2)
  })

  it('G5: a worker that finds itself expired stops everything, takes a new id, and its late answer is refused', async () => {
    const stage = new Stage()
    const zombie = new Work({ heedsSignal: false })
    const work = new Work()
    const slow = await stage.process({ jobs: { work: zombie.handler } })
    const [id] = await enqueue(stage, 'a')
    const first = slow.engine.workerId
    await stage.process({ jobs: { work: work.handler } })
    // Its clock stands still, as for a process that was suspended; the others go on.
    const row = stage.tables.workers.get(first ?? '')
    if (row !== undefined) row.leaseUntil = t0 - 1
    await stage.pass(6 * second)
    expect(zombie.begun[0]?.signal.aborted).toBe(true)
    expect(slow.of('worker:expired')).toEqual([{ worker: first }])
    expect(slow.engine.workerId).not.toBe(first)
    expect(slow.engine.isReady).toBe(true)
    const taker = [...zombie.begun.slice(1), ...work.begun]
    expect(taker.map((run) => run.attempt)).toEqual([2])
    await zombie.end(0, { value: 'too late' })
    expect((await one(stage, id)).result).toBeUndefined()
    expect(await ends(stage, id)).toEqual(['lost', undefined])
  })

  it('a worker that cannot renew gives up at four fifths of its lease, even if the store never answers', async () => {
    const stage = new Stage()
    const work = new Work()
    const hanging = changed(stage.store, { heartbeat: () => new Promise(() => undefined) })
    const process = await stage.process({ jobs: { work: work.handler }, store: hanging })
    await enqueue(stage, 'a')
    await stage.pass(24 * second - 1)
    expect(work.begun[0]?.signal.aborted).toBe(false)
    await stage.pass(1)
    expect(work.begun[0]?.signal.aborted).toBe(true)
    expect(process.of('worker:expired')).toHaveLength(1)
  })

  it('a lease is not counted from an answer that came late', async () => {
    const stage = new Stage()
    let slow = false
    const store = changed(stage.store, {
      heartbeat: async (request) => {
        if (slow) await stage.clock.sleep(20 * second)
        slow = true
        return await stage.store.heartbeat(request)
      },
    })
    const work = new Work()
    await stage.process({ jobs: { work: work.handler }, store })
    await enqueue(stage, 'a')
    // Asked at 10 s and answered; asked again at 20 s, which is answered after the lease would be over.
    await stage.pass(34 * second)
    expect(work.begun[0]?.signal.aborted).toBe(true)
  })

  it('what kills its worker three times is set aside; retry revives it', async () => {
    const stage = new Stage()
    const work = new Work()
    const cast: Cast = { jobs: { work: work.handler } }
    const [id = ''] = await enqueue(stage, 'a')
    for (let i = 0; i < 3; i++) {
      const process = await stage.process(cast)
      await stage.pass(second)
      expect(work.begun).toHaveLength(i + 1)
      process.kill()
      const upkeep = await stage.process({ jobs: {} })
      await stage.pass(36 * second)
      await upkeep.engine.stop({ graceMs: 0 })
    }
    expect(await one(stage, id)).toMatchObject({
      state: 'failed',
      reason: 'set-aside',
      crashes: 3,
      failures: 0,
    })
    await stage.process(cast)
    await stage.store.retry({ run: id, now: stage.clock.now() })
    await settle()
    await work.end(3, { value: 'alive' })
    expect(await one(stage, id)).toMatchObject({ state: 'done', attempt: 4, result: 'alive' })
  })

  it('what keeps the lease may fail each time: workers follow one another once a second and not faster', async () => {
    const stage = new Stage()
    const { store, calls } = troubled(stage.store)
    const process = await stage.process({
      jobs: {},
      store: changed(store, { heartbeat: () => Promise.resolve('expired' as const) }),
      leaseMs: 3,
    })
    await stage.pass(10 * second)
    expect(process.of('worker:expired').length).toBeLessThanOrEqual(11)
    expect(calls.get('register')).toBeLessThanOrEqual(12)
  })
})

describe('the end of an engine', () => {
  it('claims nothing more, waits for the grace, and lets what ends in it end', async () => {
    const stage = new Stage()
    const work = new Work()
    const process = await stage.process({ jobs: { work: work.handler }, concurrency: 1 })
    const [first, waiting] = await enqueue(stage, 'a', 'b')
    let stopped = false
    const stopping = process.engine.stop({ graceMs: 30 * second }).then(() => (stopped = true))
    await stage.pass(10 * second)
    expect(process.engine.isReady).toBe(false)
    expect(stopped).toBe(false)
    await work.end(0, { value: 'just in time' })
    await stopping
    expect(await one(stage, first)).toMatchObject({ state: 'done', result: 'just in time' })
    expect(await one(stage, waiting)).toMatchObject({ state: 'pending', attempt: 0 })
    expect(await stage.store.workers()).toEqual([])
  })

  it('then aborts the rest and hands it back, which uses nothing of the budget', async () => {
    const stage = new Stage()
    const work = new Work()
    const job = { handler: work.handler, retry: 1 }
    const process = await stage.process({ jobs: { work: job } })
    const [id] = await enqueue(stage, 'a')
    const stopping = process.engine.stop({ graceMs: 30 * second })
    await stage.pass(30 * second)
    await stopping
    expect(work.begun[0]?.signal.aborted).toBe(true)
    expect(await one(stage, id)).toMatchObject({ state: 'pending', failures: 0, crashes: 0, attempt: 1 })
    expect(await ends(stage, id)).toEqual(['handed-back'])
    await stage.process({ jobs: { work: job } })
    await work.end(1)
    expect(await one(stage, id)).toMatchObject({ state: 'done', attempt: 2 })
  })

  it('hands back also what ignores its signal, after seven seconds', async () => {
    const stage = new Stage()
    const work = new Work({ heedsSignal: false })
    const process = await stage.process({ jobs: { work: work.handler } })
    const [id] = await enqueue(stage, 'a')
    const stopping = process.engine.stop({ graceMs: 0 })
    await stage.pass(7 * second)
    await stopping
    expect(await ends(stage, id)).toEqual(['handed-back'])
    await work.end(0)
  })

  it('comes to an end although the store fails all the time', async () => {
    const stage = new Stage()
    const { store, state } = troubled(stage.store)
    const work = new Work()
    const process = await stage.process({ jobs: { work: work.handler }, store })
    const [id] = await enqueue(stage, 'a')
    state.error = new RotaError('STORE_FULL', 'no room')
    await work.end(0)
    const stopping = process.engine.stop({ graceMs: 30 * second })
    await stage.pass(45 * second)
    await stopping
    state.error = undefined
    // What could not be handed in is taken over by somebody else.
    const other = new Work()
    await stage.process({ jobs: { work: other.handler } })
    await stage.pass(40 * second)
    expect(other.begun.map((run) => [run.id, run.attempt])).toEqual([[id, 2]])
  })

  it('a second call waits for the same end', async () => {
    const stage = new Stage()
    const work = new Work()
    const process = await stage.process({ jobs: { work: work.handler } })
    await enqueue(stage, 'a')
    const ended: string[] = []
    void process.engine.stop({ graceMs: 30 * second }).then(() => ended.push('first'))
    void process.engine.stop({ graceMs: 0 }).then(() => ended.push('second'))
    await stage.pass(20 * second)
    expect(ended).toEqual([])
    await work.end(0)
    expect(ended).toEqual(['first', 'second'])
  })

  it('during the start: nothing is left running', async () => {
    const stage = new Stage()
    let answer: () => void = () => undefined
    const { store, calls } = troubled(stage.store)
    const slow = changed(store, {
      register: (worker) =>
        new Promise((resolve) => {
          answer = () => resolve(stage.store.register(worker))
        }),
    })
    const starting = stage.process({ jobs: {}, store: slow })
    await settle()
    const process = await Promise.race([starting, settle()])
    expect(process).toBeUndefined()
    answer()
    const started = await starting
    await started.engine.stop({ graceMs: 0 })
    calls.clear()
    await stage.pass(hour)
    expect(total(calls)).toBe(0)
  })

  it('while a lost worker is being replaced: nothing is left running and nobody stays registered', async () => {
    const stage = new Stage()
    const { store, calls, state } = troubled(stage.store)
    const process = await stage.process({ jobs: {}, store })
    const row = stage.tables.workers.get(process.engine.workerId ?? '')
    if (row !== undefined) row.isGone = true
    await stage.pass(2 * second)
    state.error = new RotaError('STORE_BUSY', 'busy')
    await stage.pass(10 * second)
    state.error = undefined
    const stopping = process.engine.stop({ graceMs: 0 })
    await stage.pass(2 * second)
    await stopping
    calls.clear()
    await stage.pass(hour)
    expect(total(calls)).toBe(0)
    expect(await stage.store.workers()).toEqual([])
  })

  it('a lease that ends during the grace stops the work all the same', async () => {
    const stage = new Stage()
    const work = new Work()
    const failing = changed(stage.store, { heartbeat: () => Promise.reject(new Error('away')) })
    const process = await stage.process({ jobs: { work: work.handler }, store: failing })
    await enqueue(stage, 'a')
    const stopping = process.engine.stop({ graceMs: hour })
    await stage.pass(24 * second)
    expect(work.begun[0]?.signal.aborted).toBe(true)
    await stopping
  })
})

describe('trouble with the store', () => {
  it('heals by itself: nothing is lost, and nothing is told twice', async () => {
    const stage = new Stage()
    const { store, state, calls } = troubled(stage.store)
    const work = new Work()
    const process = await stage.process({
      jobs: { work: work.handler },
      triggers: { t: { cron: '* * * * * *', overlap: 'allow', catchUp: 'all' } },
      store,
      concurrency: 100,
    })
    await stage.pass(3 * second)
    state.error = new RotaError('STORE_FULL', 'no room')
    calls.clear()
    await work.endAll()
    await stage.pass(15 * second)
    // Not a busy loop: each of the loops waits longer and longer, up to five seconds.
    expect(total(calls)).toBeLessThan(100)
    expect(process.of('trouble').every(({ error }) => (error as RotaError).code === 'STORE_FULL')).toBe(true)
    expect(process.of('run:ended')).toEqual([])
    state.error = undefined
    await stage.pass(10 * second)
    await work.endAll()
    const runs = await stage.runs('t')
    expect(runs.map((run) => run.dueAt)).toEqual(Array.from({ length: 28 }, (_, i) => t0 + (i + 1) * second))
    expect(runs.every((run) => run.state === 'done' && run.attempt === 1)).toBe(true)
    const told = process.of('run:ended').map((ended) => ended.run)
    expect(told.length).toBe(28)
    expect(new Set(told).size).toBe(28)
    expect(process.of('run:refused')).toEqual([])
  })

  it('what was claimed by a turn whose answer was lost is performed all the same', async () => {
    const stage = new Stage()
    const work = new Work()
    let lose = false
    const store = changed(stage.store, {
      turn: async (turn) => {
        const answer = await stage.store.turn(turn)
        if (lose && answer.claims.length > 0) {
          lose = false
          throw new RotaError('STORE_BUSY', 'the connection was lost after the commit')
        }
        return answer
      },
    })
    await stage.process({ jobs: { work: work.handler }, store })
    lose = true
    await enqueue(stage, 'a', 'b')
    await stage.pass(second)
    expect(work.begun.map((run) => run.payload).toSorted()).toEqual(['a', 'b'])
    await work.endAll()
    expect((await stage.runs()).map((run) => [run.state, run.attempt])).toEqual([
      ['done', 1],
      ['done', 1],
    ])
  })

  it('claims and notices are not lost when the jobs cannot be read', async () => {
    const stage = new Stage()
    const work = new Work()
    const process = await stage.process({ jobs: { work: work.handler } })
    stage.tables.jobsRevision += 1
    await enqueue(stage, 'a')
    expect(work.begun).toHaveLength(1)
    expect(process.of('trouble')).toEqual([])
  })

  it.each(['STORE_IO', 'STORE_CORRUPT', 'STORE_CLOSED'] as const)(
    'after %s the engine stops everything by itself and says so',
    async (code) => {
      const stage = new Stage()
      const { store, state, calls } = troubled(stage.store)
      const work = new Work()
      const process = await stage.process({ jobs: { work: work.handler }, store })
      await enqueue(stage, 'a')
      state.error = new RotaError(code, 'broken')
      await stage.pass(minute)
      expect(process.of('fatal').length).toBeGreaterThan(0)
      expect(process.engine.isReady).toBe(false)
      expect(work.begun[0]?.signal.aborted).toBe(true)
      calls.clear()
      await stage.pass(10 * minute)
      expect(total(calls)).toBeLessThan(5)
      await process.engine.stop({ graceMs: 0 })
    },
  )
})

describe('listeners', () => {
  it('one that throws or rejects harms nobody: its error becomes a trouble', async () => {
    const stage = new Stage()
    const process = await stage.process({ jobs: { work: (run: RunContext) => run.payload } })
    process.events.on('run:started', () => {
      throw new Error('sync listener')
    })
    process.events.on('run:ended', (() => Promise.reject(new Error('async listener'))) as () => void)
    const [id] = await enqueue(stage, 'a')
    expect(await one(stage, id)).toMatchObject({ state: 'done' })
    expect(process.of('trouble').map(({ where }) => where)).toEqual([
      'listener of run:started',
      'listener of run:ended',
    ])
  })
})

describe('history', () => {
  it('final runs are pruned when they are old enough, and the ledger still accounts for them', async () => {
    const stage = new Stage()
    await stage.process({
      jobs: { work: () => undefined },
      triggers: { t: { cron: '*/10 * * * *' } },
      keepMs: 2 * hour,
    })
    await stage.pass(6 * hour)
    const runs = await stage.runs('t')
    expect(runs.length).toBeLessThan(20)
    expect(await stage.ranges('t')).toMatchObject([{ reason: 'pruned', firstAt: t0 + 10 * minute }])
  })
})
