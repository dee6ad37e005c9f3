import { describe, expect, it } from 'vitest'
import { enqueue, minute, runOf, Stage, t0, Work } from '../../../test/fixtures/engine-stage.js'
import type { Run } from '../../kernel/run/run.js'
import type { RunContext } from './perform.js'

/** An object that only looks like a promise. */
function thenable(then: (yes: (value: string) => void, no: (error: Error) => void) => void): object {
  return new Proxy({}, { get: (_, key) => (key === 'then' ? then : undefined) })
}

describe('every end of a handler becomes an outcome', () => {
  async function outcomeOf(handler: (run: RunContext) => unknown): Promise<{ run: Run; stage: Stage }> {
    const stage = new Stage()
    await stage.process({ jobs: { work: handler } })
    const [id] = await enqueue(stage, ['x'])
    return { run: await runOf(stage, id), stage }
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
      'throws a value that cannot be inspected',
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
      'returns a value that is not JSON',
      () => ({ big: 10n }),
      { state: 'done', result: { rota: 'the result is not JSON and was not stored' } },
    ],
    [
      'returns a circular value',
      () => {
        const c: { c?: unknown } = {}
        c.c = c
        return c
      },
      { state: 'done' },
    ],
    [
      'returns a then that throws',
      () =>
        thenable(() => {
          throw new Error('thenable')
        }),
      { state: 'failed', error: { message: 'thenable' } },
    ],
    [
      'returns a then whose getter throws',
      () =>
        new Proxy(
          {},
          {
            get: () => {
              throw new Error('getter')
            },
          },
        ),
      { state: 'failed' },
    ],
    [
      'answers twice',
      () =>
        thenable((yes, no) => {
          yes('one')
          no(new Error('two'))
          yes('three')
        }),
      { state: 'done', result: 'one' },
    ],
  ])('one that %s', async (_, handler, expected) => {
    const { run, stage } = await outcomeOf(handler)
    expect(run).toMatchObject(expected)
    // The worker continues normally.
    const [next] = await enqueue(stage, ['next'])
    expect((await runOf(stage, next)).attempt).toBe(1)
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

  it('a listener of the end of a run can read its lines', async () => {
    const stage = new Stage()
    const process = await stage.process({ jobs: { work: (run) => run.log('hello') } })
    let seen = -1
    process.events.on('run:ended', ({ run }) => {
      void stage.store.logs({ run, limit: 10 }).then((lines) => (seen = lines.length))
    })
    await enqueue(stage, ['x'])
    expect(seen).toBe(1)
  })

  it('the context describes the run and its attempt', async () => {
    const stage = new Stage()
    const work = new Work()
    const triggers = { t: { every: '1m', partition: 'hour' as const, payload: { p: 1 } } }
    await stage.process({ jobs: { work: work.handler }, triggers })
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
