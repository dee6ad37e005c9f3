import { describe, expect, it } from 'vitest'
import {
  endsOf,
  enqueue,
  hour,
  minute,
  runOf,
  second,
  settle,
  Stage,
  t0,
  Work,
  type Cast,
} from '../../../test/fixtures/engine-stage.js'
import type { ConcurrencySlot } from '../../kernel/run/run.js'
import { PermanentError, RetryAfter, Snooze } from '../../kernel/job/thrown.js'
import type { RunContext } from './perform.js'

/** A process with one job, whose attempts end when the test says so. */
async function working(options: Partial<Cast> & { work?: Work; job?: object } = {}) {
  const stage = new Stage()
  const work = options.work ?? new Work()
  const process = await stage.process({
    jobs: { work: { handler: work.handler, ...options.job } },
    ...options,
  })
  return { stage, work, process }
}

const payloads = (work: Work): unknown[] => work.begun.map((run) => run.payload)

describe('concurrency', () => {
  it('never more runs than the concurrency, and the next begins when one ends', async () => {
    const { stage, work } = await working({ concurrency: 3 })
    await enqueue(stage, ['a', 'b', 'c', 'd', 'e'])
    expect(payloads(work)).toEqual(['a', 'b', 'c'])
    await work.end(1)
    expect(payloads(work)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('a concurrency of a thousand is used in full even if nothing ends', async () => {
    const { stage, work } = await working({ concurrency: 1000 })
    await enqueue(
      stage,
      Array.from({ length: 1500 }, (_, index) => `r${index}`),
    )
    await stage.pass(10)
    expect(work.begun).toHaveLength(1000)
  })

  it('a higher priority goes first, whatever was enqueued before', async () => {
    const { stage, work } = await working({ concurrency: 1 })
    await enqueue(stage, ['first'])
    await enqueue(stage, ['low'], { priority: -1 })
    await enqueue(stage, ['usual'])
    await enqueue(stage, ['high'], { priority: 5 })
    for (const index of [0, 1, 2]) await work.end(index)
    expect(payloads(work)).toEqual(['first', 'high', 'usual', 'low'])
  })

  it('a queue is limited over all workers', async () => {
    const stage = new Stage()
    const work = new Work()
    const cast: Cast = {
      jobs: { work: { handler: work.handler, queue: 'narrow' } },
      queues: { narrow: { concurrency: 2 } },
    }
    await stage.process(cast)
    await stage.process(cast)
    await enqueue(stage, ['a', 'b', 'c', 'd'])
    await stage.pass(5 * second)
    expect(work.begun).toHaveLength(2)
    await work.end(0)
    expect(work.begun).toHaveLength(3)
  })

  it('runs with one concurrency key are performed one at a time, others overtake them', async () => {
    const { stage, work } = await working()
    const slots: ConcurrencySlot[] = [{ key: 'key:work:x', limit: 1 }]
    await enqueue(stage, ['x1', 'x2', 'x3'], { slots })
    await enqueue(stage, ['y'])
    expect(payloads(work)).toEqual(['x1', 'y'])
    await work.end(0)
    expect(payloads(work)).toEqual(['x1', 'y', 'x2'])
  })

  it('a unique key returns the existing run until that is final, and as long as `uniqueFor` says', async () => {
    const { stage, work } = await working()
    const [first] = await enqueue(stage, ['a'], { uniqueKey: 'k', uniqueUntil: t0 + minute })
    expect(await enqueue(stage, ['b'], { uniqueKey: 'k' })).toEqual([first])
    await work.end(0)
    expect(await enqueue(stage, ['c'], { uniqueKey: 'k' })).toEqual([first])
    await stage.pass(minute)
    expect(await enqueue(stage, ['d'], { uniqueKey: 'k' })).not.toEqual([first])
  })

  it('a delayed run begins at its millisecond', async () => {
    const begunAt: number[] = []
    const { stage } = await working({ jobs: { work: () => void begunAt.push(stage.clock.now()) } })
    for (const delay of [1, 999, 12_345]) await enqueue(stage, [`d${delay}`], { runAt: t0 + delay })
    await stage.pass(hour)
    expect(begunAt).toEqual([t0 + 1, t0 + 999, t0 + 12_345])
  })

  it('a worker without free slots releases the limited runs that it prefetched', async () => {
    const stage = new Stage()
    const begun: unknown[] = []
    const handler = (run: RunContext): Promise<void> | undefined => {
      if (run.payload === 'long') return new Promise(() => undefined)
      begun.push(run.payload)
      return undefined
    }
    const cast: Cast = { jobs: { work: { handler } }, concurrency: 1 }
    await stage.process(cast)
    await enqueue(stage, [...Array.from({ length: 100 }, (_, i) => `fast ${i}`), 'long'])
    await enqueue(stage, ['x'], { slots: [{ key: 'trigger:x', limit: 1 }] })
    await settle()
    const ahead = await stage.store.runs({ state: 'running', limit: 9 })
    expect(new Set(ahead.map(({ payload }) => payload))).toEqual(new Set(['long', 'x']))
    expect(begun).toHaveLength(100)
    await stage.process(cast)
    await stage.pass(2 * second)
    expect(begun.at(-1)).toBe('x')
  })

  it('many synchronous handlers do not block timers and sockets', async () => {
    let done = 0
    let doneAtFirstTurn = 0
    const stage = new Stage()
    await stage.process({ jobs: { work: () => void (done += 1) }, concurrency: 100 })
    const turn = new Promise<void>((resolve) => {
      const look = (): void => {
        if (done === 0) return void setImmediate(look)
        doneAtFirstTurn = done
        resolve()
      }
      setImmediate(look)
    })
    await enqueue(
      stage,
      Array.from({ length: 5000 }, (_, index) => `s${index}`),
    )
    await turn
    await stage.pass(second)
    expect(doneAtFirstTurn).toBeLessThan(1025)
    expect(done).toBe(5000)
  })
})

describe('trying again', () => {
  const retry = { attempts: 3, delay: '10s', backoff: 'exponential', jitter: 0 }

  it('waits for the exact backoff until the attempts are used up', async () => {
    const begunAt: number[] = []
    const handler = (): void => {
      begunAt.push(stage.clock.now() - t0)
      throw new Error('no')
    }
    const stage = new Stage()
    await stage.process({ jobs: { work: { handler, retry: { ...retry, backoff: 'exponential' } } } })
    const [id] = await enqueue(stage, ['x'])
    await stage.pass(hour)
    expect(begunAt).toEqual([0, 10 * second, 30 * second])
    expect(await runOf(stage, id)).toMatchObject({ state: 'failed', failures: 3, attempt: 3 })
    expect(await endsOf(stage, id)).toEqual(['failed', 'failed', 'failed'])
  })

  it('a permanent error is not retried', async () => {
    const handler = (): void => {
      throw new PermanentError('never')
    }
    const { stage } = await working({ jobs: { work: { handler, retry: 5 } } })
    const [id] = await enqueue(stage, ['x'])
    await stage.pass(hour)
    expect(await runOf(stage, id)).toMatchObject({ state: 'failed', attempt: 1, error: { message: 'never' } })
  })

  it('a RetryAfter error sets the time of the next attempt, and counts as a failure', async () => {
    const tries: (readonly [number, boolean])[] = []
    const handler = (run: RunContext): void => {
      tries.push([stage.clock.now() - t0, run.isLastAttempt])
      throw new RetryAfter('90s', 'busy')
    }
    const { stage } = await working({ jobs: { work: { handler, retry: 2 } } })
    const [id] = await enqueue(stage, ['x'])
    await settle()
    expect(await runOf(stage, id)).toMatchObject({
      state: 'pending',
      reason: 'its error said when to try again',
    })
    await stage.pass(hour)
    expect(tries).toEqual([
      [0, false],
      [90 * second, true],
    ])
    expect(await runOf(stage, id)).toMatchObject({ state: 'failed', failures: 2, reason: undefined })
  })

  it('a snoozed attempt counts neither as done nor as failed', async () => {
    let tries = 0
    const handler = (): string => {
      tries += 1
      if (tries < 4) throw new Snooze('10m', tries === 1 ? 'no file yet' : undefined)
      return 'read'
    }
    const { stage } = await working({ jobs: { work: { handler } } })
    const [id] = await enqueue(stage, ['x'])
    await settle()
    expect(await runOf(stage, id)).toMatchObject({
      state: 'pending',
      runAt: t0 + 600 * second,
      reason: 'snoozed: no file yet',
    })
    await stage.pass(hour)
    expect(await runOf(stage, id)).toMatchObject({
      state: 'done',
      attempt: 4,
      failures: 0,
      result: 'read',
      reason: undefined,
    })
    expect(await endsOf(stage, id)).toEqual(['snoozed', 'snoozed', 'snoozed', 'done'])
  })

  it('`retry.not` ends a run without a retry: by class, code, exit code or status', async () => {
    class Refused extends TypeError {}
    const errors = [
      new Refused('class'),
      Object.assign(new Error('code'), { code: 'EBAD' }),
      Object.assign(new Error('exit'), { exitCode: 2 }),
      Object.assign(new Error('status'), { status: 404 }),
      Object.assign(new Error('other'), { status: 500 }),
    ]
    const handler = ({ payload }: RunContext): void => {
      throw errors[Number(payload)]
    }
    const not = ['TypeError', 'EBAD', 2, 404]
    const { stage } = await working({ jobs: { work: { handler, retry: { attempts: 2, delay: 0, not } } } })
    const ids = await enqueue(stage, ['0', '1', '2', '3', '4'])
    await stage.pass(hour)
    const runs = await Promise.all(ids.map((id) => runOf(stage, id)))
    expect(runs.map((run) => run?.reason)).toEqual([
      ...not.map((kind) => `not retried: its job does not retry ${kind}`),
      undefined,
    ])
    expect(runs.map((run) => run?.attempt)).toEqual([1, 1, 1, 1, 2])
  })

  it('retry gives a failed run new attempts; their numbers continue', async () => {
    const { stage, work } = await working()
    const [id = ''] = await enqueue(stage, ['x'])
    await work.end(0, { error: new Error('no') })
    expect(await stage.store.retry({ run: id, now: stage.clock.now() })).toBe('pending')
    await settle()
    await work.end(1, { value: 'yes' })
    expect(await runOf(stage, id)).toMatchObject({ state: 'done', attempt: 2, failures: 0, result: 'yes' })
  })
})

describe('timeouts', () => {
  it('a function that obeys its signal ends at the timeout, which counts as a failure', async () => {
    const { stage, work } = await working({ job: { timeout: '5s', retry: { attempts: 2, delay: 0 } } })
    const [id] = await enqueue(stage, ['x'])
    await stage.pass(5 * second - 1)
    expect(work.begun[0]?.signal.aborted).toBe(false)
    await stage.pass(1)
    expect(work.begun[0]?.signal.reason).toMatchObject({ code: 'TIMED_OUT' })
    await stage.pass(5 * second)
    expect(await endsOf(stage, id)).toEqual(['timed-out', 'timed-out'])
    expect(await runOf(stage, id)).toMatchObject({ state: 'failed', error: { code: 'TIMED_OUT' } })
  })

  it('a function that ignores it times out ten seconds later, and its slot stays taken until it returns', async () => {
    const work = new Work({ heedsSignal: false })
    const { stage, process } = await working({ work, job: { timeout: '5s' }, concurrency: 2 })
    const [first, second_] = await enqueue(stage, ['a', 'b', 'c'])
    await stage.pass(15 * second - 1)
    expect((await runOf(stage, first)).state).toBe('running')
    expect(process.engine.isReady).toBe(true)
    await stage.pass(1)
    expect((await runOf(stage, first)).state).toBe('failed')
    expect((await runOf(stage, second_)).state).toBe('failed')
    expect(work.begun).toHaveLength(2)
    expect(process.engine.isReady).toBe(false)
    expect(process.of('worker:not-ready')).toEqual([{ stuck: 2 }])
    await work.end(0)
    expect(process.engine.isReady).toBe(true)
    expect(payloads(work)).toEqual(['a', 'b', 'c'])
  })
})

describe('cancelling', () => {
  const reason = 'not needed'

  it('a waiting run is cancelled immediately', async () => {
    const { stage } = await working({ concurrency: 1 })
    const [, id = ''] = await enqueue(stage, ['a', 'b'])
    expect(await stage.store.cancel({ run: id, now: t0, reason })).toBe('cancelled')
    expect(await runOf(stage, id)).toMatchObject({ state: 'cancelled', reason, attempt: 0 })
  })

  it('a running run is aborted, and is cancelled when it has stopped', async () => {
    const { stage, work } = await working()
    const [id = ''] = await enqueue(stage, ['a'])
    expect(await stage.store.cancel({ run: id, now: t0, reason })).toBe('requested')
    await settle()
    expect(work.begun[0]?.signal.aborted).toBe(true)
    expect(await runOf(stage, id)).toMatchObject({ state: 'cancelled', reason })
    expect(await endsOf(stage, id)).toEqual(['cancelled'])
  })

  it('a prefetched run never begins', async () => {
    const stage = new Stage()
    const begun: unknown[] = []
    const long = new Work()
    const handler = (run: RunContext): unknown => {
      begun.push(run.payload)
      return String(run.payload).startsWith('long') ? long.handler(run) : undefined
    }
    await stage.process({ jobs: { work: handler }, concurrency: 1 })
    // Many short runs make the worker prefetch; then a long one keeps the prefetched runs from beginning.
    await enqueue(stage, [...Array.from({ length: 600 }, (_, index) => `s${index}`), 'long', 'after'])
    const [, id = ''] = await enqueue(stage, ['long', 'after'])
    const run = await runOf(stage, id)
    await stage.store.cancel({ run: id, now: stage.clock.now(), reason })
    await settle()
    expect(await runOf(stage, id)).toMatchObject({ state: 'cancelled', attempt: run.attempt })
    await long.endAll()
    await stage.pass(second)
    expect(begun).not.toContain('after')
  })

  it('a cancel reaches its holder even if upkeep takes over lost runs at the same moment', async () => {
    const stage = new Stage()
    const lost = new Work()
    const work = new Work()
    const dying = await stage.process({ jobs: { work: lost.handler }, concurrency: 1 })
    await enqueue(stage, ['dying'])
    await stage.process({ jobs: { work: work.handler }, concurrency: 5 })
    const [id = ''] = await enqueue(stage, ['kept'])
    dying.kill()
    await stage.pass(29 * second)
    await stage.store.cancel({ run: id, now: stage.clock.now(), reason })
    await stage.pass(10 * second)
    expect(await runOf(stage, id)).toMatchObject({ state: 'cancelled' })
  })
})
