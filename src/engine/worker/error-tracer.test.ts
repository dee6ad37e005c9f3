import { describe, expect, it } from 'vitest'
import {
  changed,
  endsOf,
  enqueue,
  runOf,
  second,
  settle,
  Stage,
  Work,
} from '../../../test/fixtures/engine-stage.js'
import { later, traced } from '../../../test/fixtures/traced.js'
import { ErrorTracer } from './error-tracer.js'

/** Resolves in the next cycle of the event loop, when an unhandled rejection would have been reported. */
const nextGo = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function linesOf(stage: Stage, id: string | undefined): Promise<string[]> {
  return (await stage.store.logs({ run: id ?? '', limit: 100 })).map(({ level, text }) => `${level} ${text}`)
}

describe('an uncaught error', () => {
  it('fails the run that it comes from, whose signal aborts, and no other', async () => {
    const { stage, process } = await traced((stray, { clock }) => ({
      jobs: {
        work: async (run) => {
          const stopped = new Promise((resolve) => run.signal.addEventListener('abort', resolve))
          if (run.payload === 'bad') setImmediate(() => stray('lost promise'))
          await (run.payload === 'bad' ? stopped : clock.sleep(5 * second))
          return run.payload
        },
      },
    }))
    const [bad, good] = await enqueue(stage, ['bad', 'good'])
    await settle()
    expect(await runOf(stage, bad)).toMatchObject({
      state: 'failed',
      error: { code: 'HANDLER_FAILED', message: 'lost promise' },
    })
    expect(await linesOf(stage, bad)).toEqual(['error uncaught error: lost promise'])
    await stage.pass(6 * second)
    expect(await runOf(stage, good)).toMatchObject({ state: 'done', result: 'good' })
    expect(process.of('trouble')).toEqual([])
    expect(process.engine.isReady).toBe(true)
  })

  it.each<[string, (stray: () => boolean) => unknown]>([
    ['at once', (stray) => stray()],
    ['right after it has returned', async (stray) => queueMicrotask(stray)],
    // As Node reports an unhandled rejection: when nothing else is left to do in this cycle of the event loop.
    ['after everything that its return caused', (stray) => process.nextTick(stray)],
    ['after a promise that it has awaited', async (stray) => void Promise.resolve().then(stray)],
  ])('fails a run that has returned but is not submitted: %s', async (_, forget) => {
    const { stage } = await traced((stray) => ({
      jobs: { work: () => forget(() => stray('forgotten')) },
      concurrency: 2,
    }))
    const ids = await enqueue(stage, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
    await stage.pass(second)
    for (const id of ids) {
      expect(await runOf(stage, id)).toMatchObject({ state: 'failed', error: { message: 'forgotten' } })
    }
  })

  it('is retried like any failure, unless it is a permanent error', async () => {
    let tries = 0
    const tracer = new ErrorTracer()
    tracer.trace()
    const stage = new Stage()
    const handler = (run: { payload: unknown }): void => {
      tries += 1
      tracer.take(Object.assign(new Error('no'), { name: run.payload }))
    }
    await stage.process({ tracer, jobs: { work: { handler, retry: { attempts: 3, delay: 0 } } } })
    const [id] = await enqueue(stage, ['Error'])
    await stage.pass(second)
    expect({ tries, state: (await runOf(stage, id)).state }).toEqual({ tries: 3, state: 'failed' })
    await enqueue(stage, ['PermanentError'])
    await stage.pass(second)
    expect(tries).toBe(4)
  })

  it('of a function that ignores its signal ends the attempt after ten seconds', async () => {
    const { stage, process } = await traced((stray) => ({
      jobs: { work: () => new Promise(() => setImmediate(() => stray('deaf'))) },
      concurrency: 2,
    }))
    const [id] = await enqueue(stage, ['x'])
    await stage.pass(9 * second)
    expect((await runOf(stage, id)).state).toBe('running')
    await stage.pass(2 * second)
    expect(await runOf(stage, id)).toMatchObject({ state: 'failed', error: { message: 'deaf' } })
    expect(process.of('run:stuck').length).toBe(1)
  })

  it('that comes after the result is stored changes nothing, and is in the log of its run', async () => {
    const { stage, process } = await traced((stray, { clock }) => ({
      jobs: { work: () => later(clock, 5 * second, () => stray('too late')) },
    }))
    const [id] = await enqueue(stage, ['x'])
    await stage.pass(6 * second)
    expect((await runOf(stage, id)).state).toBe('done')
    expect(await linesOf(stage, id)).toEqual(['error uncaught error: too late'])
    const message = 'an uncaught error came after the end of the attempt was decided: too late'
    expect(process.of('trouble')).toMatchObject([{ where: `run ${id} of work`, error: { message } }])
  })

  it('caused by an abort does not change the reason of the abort', async () => {
    const { stage } = await traced((stray) => ({
      jobs: {
        work: {
          handler: (run) => {
            run.signal.addEventListener('abort', () => stray('aborted fetch'))
            return new Promise((resolve) => run.signal.addEventListener('abort', resolve))
          },
          timeout: '1s',
        },
      },
    }))
    const [id] = await enqueue(stage, ['x'])
    await stage.pass(2 * second)
    expect(await endsOf(stage, id)).toEqual(['timed-out'])
  })

  it('of Rota itself is nobody’s, also where the code of a run has caused the call', async () => {
    const during: (string | undefined)[] = []
    const tracer = new ErrorTracer()
    tracer.trace()
    const stage = new Stage()
    const store = changed(stage.store, {
      turn: async (turn) => {
        during.push(tracer.current?.title)
        return await stage.store.turn(turn)
      },
    })
    const work = async (run: { payload: unknown }): Promise<void> => {
      expect(tracer.current?.title).toMatch(/^run \w+ of work$/)
      if (run.payload === 'first') await enqueue(stage, ['second'])
      process.engine.wake()
      await nextGo()
    }
    const process = await stage.process({ tracer, store, jobs: { work } })
    await enqueue(stage, ['first'])
    await settle()
    expect(during.length).toBeGreaterThan(2)
    expect(during.filter((title) => title !== undefined)).toEqual([])
    expect(tracer.take(new Error('outside'))).toBe(false)
  })

  it('fails nothing if tracing was not requested', async () => {
    const tracer = new ErrorTracer()
    const stage = new Stage()
    const work = new Work()
    const taken: boolean[] = []
    const handler: Work['handler'] = (run) => {
      taken.push(tracer.take(new Error('untraced')))
      return work.handler(run)
    }
    await stage.process({ tracer, jobs: { work: handler } })
    const [id] = await enqueue(stage, ['x'])
    await work.endAll()
    expect({ taken, state: (await runOf(stage, id)).state }).toEqual({ taken: [false], state: 'done' })
  })
})
