import { describe, expect, it, onTestFinished } from 'vitest'
import { aJob, aRun, minute, outcomes, Stage, t0 } from '../../store/conformance/stage.js'
import { openMemoryStore } from '../../store/memory/memory-store.js'
import type { Store } from '../../store/port.js'
import { FakeClock } from '../../testing/fake-clock.js'
import type { Handler } from './perform.js'
import { performOneRun } from './one-run.js'

const worker = { id: 'one', host: 'h', pid: 1, version: '0' }

interface Given {
  aheadMs?: number
  store?: Store
  clock?: FakeClock
  signal?: AbortSignal
}

async function staged() {
  const store = openMemoryStore()
  onTestFinished(() => store.close())
  const stage = new Stage({ store, reopen: () => Promise.resolve(store), dispose: () => store.close() })
  const job = aJob('work')
  await stage.jobs([job])
  const work = (handler: Handler, given: Given = {}) => {
    const clock = given.clock ?? new FakeClock(t0)
    return performOneRun({
      store: given.store ?? store,
      clock,
      now: () => clock.now(),
      worker,
      executableJobs: new Map([['work', { job, handler }]]),
      leaseMs: 30_000,
      aheadMs: given.aheadMs ?? 0,
      signal: given.signal ?? new AbortController().signal,
    })
  }
  return { store, stage, job, work }
}

describe('one run of a short-lived process', () => {
  it.each(['done', 'failed'] as const)(
    'Q7: is reported as lost if another worker has ended it, although its handler %s',
    async (end) => {
      const { store, stage, work } = await staged()
      await stage.enqueue([aRun('a', { job: 'work' })])
      const worked = await work(async () => {
        const [lost] = await store.expire({ now: t0, deadline: t0 + 3_600_000, limit: 1 })
        const outcome = { end: 'lost', state: 'pending', runAt: t0 } as const
        const finished = { run: lost?.run ?? '', attempt: 1, outcome, startedAt: t0, endedAt: t0 }
        await store.turn({ worker: '', now: t0, finished: [finished], claimRequest: undefined })
        await stage.worker('other')
        const claim = await stage.claimOne('other', t0)
        await stage.finish('other', claim, { outcome: outcomes.done, at: t0 })
        if (end === 'failed') throw new Error('too late')
      })
      expect(worked).toMatchObject({ end: 'lost', run: { state: 'done', attempt: 2 } })
    },
  )

  it('G6: renews its lease at once where the claim has used up a part of it', async () => {
    const { store, stage, work } = await staged()
    const clock = new FakeClock(t0)
    await stage.enqueue([aRun('a', { job: 'work' })])
    const slow: Store = {
      ...store,
      turn: async (request) => {
        const answer = await store.turn(request)
        if (answer.claims.length > 0) await clock.advance(20_000)
        return answer
      },
    }
    let leaseUntil = 0
    const read = async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve))
      leaseUntil = (await store.workers())[0]?.leaseUntil ?? 0
    }
    await work(read, { store: slow, clock })
    expect(leaseUntil).toBe(t0 + 50_000)
  })

  it('throws what the store throws while nothing is performed', async () => {
    const { store, stage, work } = await staged()
    await stage.enqueue([aRun('a', { job: 'work' })])
    const broken: Store = { ...store, turn: () => Promise.reject(new Error('no disk')) }
    await expect(work(() => undefined, { store: broken })).rejects.toThrow('no disk')
    expect(await store.workers()).toEqual([])
  })

  it('stores its end even if the store failed while it was performed', async () => {
    const { store, stage, work } = await staged()
    const clock = new FakeClock(t0)
    await stage.enqueue([aRun('a', { job: 'work' })])
    let failures = 0
    let isBroken = false
    const shaky: Store = {
      ...store,
      turn: async (request) => {
        if (isBroken) failures += 1
        return isBroken ? await Promise.reject(new Error('no disk')) : await store.turn(request)
      },
    }
    const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
    let make: (value: string) => void = () => undefined
    const made = new Promise<string>((resolve) => (make = resolve))
    const working = work(() => made, { store: shaky, clock })
    await clock.advance(1000, settle)
    isBroken = true
    await clock.advance(5000, settle)
    isBroken = false
    make('made')
    await clock.advance(10_000, settle)
    const worked = await working
    expect(failures).toBeGreaterThan(0)
    expect(worked).toMatchObject({ end: 'done', run: { state: 'done', result: 'made' } })
  })

  it('performs one run, even if more are due', async () => {
    const { store, stage, work } = await staged()
    await stage.enqueue([aRun('a', { job: 'work' }), aRun('b', { job: 'work' })])
    expect(await work(() => undefined)).toMatchObject({ end: 'done' })
    expect((await store.runs({ limit: 9 })).map(({ state }) => state).toSorted()).toEqual(['done', 'pending'])
  })

  it('is released when its signal aborts', async () => {
    const { stage, work } = await staged()
    await stage.enqueue([aRun('a', { job: 'work' })])
    const stop = new AbortController()
    const worked = await work(
      async ({ signal }) => {
        stop.abort()
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
      { signal: stop.signal },
    )
    expect(worked).toMatchObject({ end: 'released', run: { state: 'pending', attempt: 1 } })
  })

  it.each(['all', 'switch:worker', 'queue:default'] as const)(
    'Q7: keeps its instant while %s is held, whatever aheadMs is',
    async (target) => {
      const { store, stage, job, work } = await staged()
      expect(job.queue).toBe('default')
      const run = aRun('a', { job: 'work', dueAt: t0 + minute, runAt: t0 + minute })
      await stage.enqueue([run])
      await store.hold({ target, now: t0, actor: 'ann', note: '' })
      expect(await work(() => undefined, { aheadMs: 5 * minute })).toBeUndefined()
      expect(await store.run(run.id)).toMatchObject({ state: 'pending', runAt: t0 + minute })
    },
  )
})
