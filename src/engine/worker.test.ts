import { describe, expect, it } from 'vitest'
import { hour, minute, second, settle, Stage, t0, Work, type Cast } from '../../test/fixtures/engine-stage.js'
import { runIdOf } from '../model/identity.js'
import type { Gate, NewRun, Run } from '../model/run.js'
import type { RunContext } from './perform.js'
import { PermanentError } from './perform.js'

/** Records runs of `work` at once, labelled so that their order can be read. */
async function enqueue(
  stage: Stage,
  labels: readonly string[],
  given: Partial<NewRun> = {},
): Promise<string[]> {
  const now = stage.clock.now()
  const runs = labels.map((label): NewRun => {
    const dueAt = given.dueAt ?? now
    const id = runIdOf({ at: dueAt, parts: [label] })
    return {
      id,
      job: 'work',
      origin: 'enqueue',
      dueAt,
      runAt: dueAt,
      priority: 0,
      gates: [],
      payload: label,
      ...given,
    }
  })
  const answers = await stage.store.enqueue({ runs, now })
  await settle()
  return answers.map((answer) => answer.id)
}

async function one(stage: Stage, id: string | undefined): Promise<Run> {
  return (await stage.store.run(id ?? '')) as Run
}

async function ends(stage: Stage, id: string | undefined): Promise<(string | undefined)[]> {
  return (await stage.store.attempts(id ?? '')).map((attempt) => attempt.end)
}

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

describe('how much is done at once', () => {
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

  it('a higher priority goes first, whatever was there before', async () => {
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

  it('runs with one group key are held one at a time, others pass them by', async () => {
    const { stage, work } = await working()
    const gates: Gate[] = [{ key: 'key:work:x', limit: 1 }]
    await enqueue(stage, ['x1', 'x2', 'x3'], { gates })
    await enqueue(stage, ['y'])
    expect(payloads(work)).toEqual(['x1', 'y'])
    await work.end(0)
    expect(payloads(work)).toEqual(['x1', 'y', 'x2'])
  })

  it('a unique key gives the run that has it until that is final, and for as long as it was asked for', async () => {
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

  it('sync handlers in bulk let timers and sockets have their turn in between', async () => {
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

describe('what a handler does becomes an outcome', () => {
  async function outcomeOf(handler: (run: RunContext) => unknown): Promise<{ run: Run; stage: Stage }> {
    const stage = new Stage()
    await stage.process({ jobs: { work: handler } })
    const [id] = await enqueue(stage, ['x'])
    return { run: await one(stage, id), stage }
  }

  it.each<[string, (run: RunContext) => unknown, object]>([
    ['returns a value', () => ({ a: 1 }), { state: 'done', result: { a: 1 } }],
    ['returns a promise', async () => 'later', { state: 'done', result: 'later' }],
    ['returns nothing', () => undefined, { state: 'done', result: undefined }],
    [
      'throws',
      () => {
        throw new Error('sync')
      },
      { state: 'failed', error: { code: 'HANDLER_FAILED', message: 'sync' } },
    ],
    [
      'rejects',
      async () => {
        throw Object.assign(new Error('async'), { code: 'E_OWN' })
      },
      { state: 'failed', error: { code: 'E_OWN' } },
    ],
    [
      'throws a text',
      () => {
        throw 'words'
      },
      { state: 'failed', error: { message: 'words' } },
    ],
    [
      'throws undefined',
      () => {
        throw undefined
      },
      { state: 'failed' },
    ],
    [
      'throws an error whose message is a map',
      () => {
        throw Object.assign(new Error('x'), { message: { a: 1 } })
      },
      { state: 'failed' },
    ],
    [
      'throws what cannot be looked at',
      () => {
        throw new Proxy(new Error('x'), {
          get: () => {
            throw new Error('no')
          },
        })
      },
      { state: 'failed' },
    ],
    [
      'returns what JSON cannot carry',
      () => ({ big: 10n }),
      { state: 'done', result: { rota: 'the result is not JSON and was not kept' } },
    ],
    [
      'returns a circle',
      () => {
        const c: { c?: unknown } = {}
        c.c = c
        return c
      },
      { state: 'done' },
    ],
    [
      'returns a then that throws',
      () => ({
        then: () => {
          throw new Error('thenable')
        },
      }),
      { state: 'failed', error: { message: 'thenable' } },
    ],
    [
      'returns a then whose getter throws',
      () =>
        Object.defineProperty({}, 'then', {
          get: () => {
            throw new Error('getter')
          },
        }),
      { state: 'failed' },
    ],
    [
      'answers twice',
      () => ({
        then: (yes: (v: string) => void, no: (e: Error) => void) => {
          yes('one')
          no(new Error('two'))
          yes('three')
        },
      }),
      { state: 'done', result: 'one' },
    ],
  ])('one that %s', async (_, handler, expected) => {
    const { run, stage } = await outcomeOf(handler)
    expect(run).toMatchObject(expected)
    // The worker goes on as if nothing had happened.
    const [next] = await enqueue(stage, ['next'])
    expect((await one(stage, next)).attempt).toBe(1)
  })

  it('results and errors are bounded', async () => {
    const large = await outcomeOf(() => 'x'.repeat(200_000))
    expect(large.run.result).toMatchObject({ rota: 'the result was cut', bytes: 200_002 })
    const failed = await outcomeOf(() => {
      throw new Error('y'.repeat(200_000))
    })
    expect(JSON.stringify(failed.run.error).length).toBeLessThan(20_000)
  })

  it('lines are kept in order, from before the end of the run, and within bounds', async () => {
    const stage = new Stage()
    await stage.process({
      jobs: {
        work: (run) => {
          run.log('one')
          run.log('two', 'warn')
          run.log({ three: 3 } as unknown as string, 'loud' as 'info')
          for (let i = 0; i < 5000; i++) run.log('z'.repeat(10))
        },
      },
    })
    const [id = ''] = await enqueue(stage, ['x'])
    const lines = await stage.store.logs({ run: id, limit: 10_000 })
    expect(lines.slice(0, 3).map((line) => [line.level, line.text])).toEqual([
      ['info', 'one'],
      ['warn', 'two'],
      ['info', '[object Object]'],
    ])
    expect(lines).toHaveLength(1001)
    expect(lines.at(-1)?.text).toContain('output cut')
  })

  it('whoever hears that a run has ended can read its lines', async () => {
    const stage = new Stage()
    const process = await stage.process({ jobs: { work: (run) => run.log('hello') } })
    let seen = -1
    process.events.on('run:ended', ({ run }) => {
      void stage.store.logs({ run, limit: 10 }).then((lines) => (seen = lines.length))
    })
    await enqueue(stage, ['x'])
    expect(seen).toBe(1)
  })

  it('the context says which attempt of what this is', async () => {
    const { work, stage } = await working({
      triggers: { t: { every: '1m', partition: 'hour', payload: { p: 1 } } },
    })
    await stage.pass(minute)
    expect(work.begun[0]).toMatchObject({
      job: 'work',
      trigger: 't',
      attempt: 1,
      dueAt: new Date(t0 + minute),
      partition: '2026-01-05T00:00Z',
      payload: { p: 1 },
    })
  })
})

describe('trying again', () => {
  const retry = { attempts: 3, delay: '10s', backoff: 'exponential', jitter: 0 }

  it('waits as the backoff says, to the millisecond, until the budget is used up', async () => {
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
    expect(await one(stage, id)).toMatchObject({ state: 'failed', failures: 3, attempt: 3 })
    expect(await ends(stage, id)).toEqual(['failed', 'failed', 'failed'])
  })

  it('a permanent error is not tried again', async () => {
    const handler = (): void => {
      throw new PermanentError('never')
    }
    const { stage } = await working({ jobs: { work: { handler, retry: 5 } } })
    const [id] = await enqueue(stage, ['x'])
    await stage.pass(hour)
    expect(await one(stage, id)).toMatchObject({ state: 'failed', attempt: 1, error: { message: 'never' } })
  })

  it('retry gives a failed run a fresh budget; attempts keep counting', async () => {
    const { stage, work } = await working()
    const [id = ''] = await enqueue(stage, ['x'])
    await work.end(0, { error: new Error('no') })
    expect(await stage.store.retry({ run: id, now: stage.clock.now() })).toBe('pending')
    await settle()
    await work.end(1, { value: 'yes' })
    expect(await one(stage, id)).toMatchObject({ state: 'done', attempt: 2, failures: 0, result: 'yes' })
  })
})

describe('timeouts', () => {
  it('a function that heeds its signal ends at the timeout, which counts against the budget', async () => {
    const { stage, work } = await working({ job: { timeout: '5s', retry: { attempts: 2, delay: 0 } } })
    const [id] = await enqueue(stage, ['x'])
    await stage.pass(5 * second - 1)
    expect(work.begun[0]?.signal.aborted).toBe(false)
    await stage.pass(1)
    expect(work.begun[0]?.signal.reason).toMatchObject({ code: 'TIMED_OUT' })
    await stage.pass(5 * second)
    expect(await ends(stage, id)).toEqual(['timed-out', 'timed-out'])
    expect(await one(stage, id)).toMatchObject({ state: 'failed', error: { code: 'TIMED_OUT' } })
  })

  it('one that ignores it is timed out ten seconds later, and its slot stays taken until it returns', async () => {
    const work = new Work({ heedsSignal: false })
    const { stage, process } = await working({ work, job: { timeout: '5s' }, concurrency: 2 })
    const [first, second_] = await enqueue(stage, ['a', 'b', 'c'])
    await stage.pass(15 * second - 1)
    expect((await one(stage, first)).state).toBe('running')
    expect(process.engine.isReady).toBe(true)
    await stage.pass(1)
    expect((await one(stage, first)).state).toBe('failed')
    expect((await one(stage, second_)).state).toBe('failed')
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

  it('a waiting run is cancelled at once', async () => {
    const { stage } = await working({ concurrency: 1 })
    const [, id = ''] = await enqueue(stage, ['a', 'b'])
    expect(await stage.store.cancel({ run: id, now: t0, reason })).toBe('cancelled')
    expect(await one(stage, id)).toMatchObject({ state: 'cancelled', reason, attempt: 0 })
  })

  it('a running one is told to stop and is cancelled when it has', async () => {
    const { stage, work } = await working()
    const [id = ''] = await enqueue(stage, ['a'])
    expect(await stage.store.cancel({ run: id, now: t0, reason })).toBe('requested')
    await settle()
    expect(work.begun[0]?.signal.aborted).toBe(true)
    expect(await one(stage, id)).toMatchObject({ state: 'cancelled', reason })
    expect(await ends(stage, id)).toEqual(['cancelled'])
  })

  it('one that is claimed ahead and not begun never begins', async () => {
    const stage = new Stage()
    const begun: unknown[] = []
    const long = new Work()
    const handler = (run: RunContext): unknown => {
      begun.push(run.payload)
      return String(run.payload).startsWith('long') ? long.handler(run) : undefined
    }
    await stage.process({ jobs: { work: handler }, concurrency: 1 })
    // Many short ones make the worker claim ahead; then a long one keeps what it has at hand from beginning.
    await enqueue(stage, [...Array.from({ length: 600 }, (_, index) => `s${index}`), 'long', 'after'])
    const [, id = ''] = await enqueue(stage, ['long', 'after'])
    const run = await one(stage, id)
    await stage.store.cancel({ run: id, now: stage.clock.now(), reason })
    await settle()
    expect(await one(stage, id)).toMatchObject({ state: 'cancelled', attempt: run.attempt })
    await long.endAll()
    await stage.pass(second)
    expect(begun).not.toContain('after')
  })

  it('a cancel reaches its holder although upkeep takes over lost runs in the same moment', async () => {
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
    expect(await one(stage, id)).toMatchObject({ state: 'cancelled' })
  })
})
