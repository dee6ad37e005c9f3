import { mkdtempSync, realpathSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { readPipeline } from '../../kernel/job/define-pipeline.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { placeOf } from '../../kernel/definition/faults.js'
import type { Pipeline } from '../../kernel/job/pipeline.js'
import { FakeClock } from '../../testing/fake-clock.js'
import { systemClock } from '../../time/clock.js'
import { performPipeline } from './perform-pipeline.js'
import type { PipelineContext } from './pipeline-context.js'
import type { StepContext, StepFunction } from './step-function.js'

let directory: string

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'rota-steps-')))
})

describe('a pipeline', () => {
  it('Q9: performs its steps in order and returns the results of all', async () => {
    const order: string[] = []
    const functions = { note: (step: StepContext) => order.push(step.step) }
    const { context, lines } = contextOf({ functions })
    const steps = [
      { id: 'first', uses: 'note' },
      { id: 'say', run: node('console.log("hello")') },
      { uses: 'note' },
    ]
    expect(await performPipeline(pipelineOf({ name: 'web', steps }), context)).toEqual({
      pipeline: 'web',
      steps: { first: 1, say: { exitCode: 0, stdout: 'hello' }, 'step-3': 2 },
    })
    expect(order).toEqual(['first', 'step-3'])
    expect(lines).toEqual([
      'info step first (1 of 3)',
      'info step say (2 of 3)',
      'info hello',
      'info step step-3 (3 of 3)',
    ])
  })

  it('Q9: ends at the first step that fails, and its error names the step', async () => {
    const called: string[] = []
    const functions = { note: (step: StepContext) => called.push(step.step) }
    const steps = [
      { id: 'fetch', uses: 'note' },
      { id: 'publish', run: node('process.exit(1)') },
      { id: 'after', uses: 'note' },
    ]
    const error = await failureOf({ steps }, contextOf({ functions }).context)
    expect(error).toMatchObject({
      code: 'STEP_FAILED',
      message: 'step publish: exit 1',
      details: { step: 'publish', completed: { fetch: 1 } },
    })
    expect(called).toEqual(['fetch'])
  })

  it('Q9: passes its params and the earlier results to a command as variables, never as arguments', async () => {
    const show =
      'const { PIPELINE_PARAMS_JSON: p, PIPELINE_RESULTS_JSON: r, ROTA_RUN_ID: i, ROTA_ATTEMPT: a } = process.env;' +
      'console.log(JSON.stringify([p, r, i, a, process.argv.length]))'
    const payload = { topic: '$(touch pwned); `x` "\'', a: { z: 1, b: [true, null] } }
    const functions = { fetch: () => ({ rows: 2 }) }
    const steps = [
      { id: 'fetch', uses: 'fetch' },
      { id: 'show', run: { argv: node(show), env: { PIPELINE_PARAMS_JSON: 'mine' } } },
    ]
    const { context } = contextOf({ functions, payload })
    const result = (await performPipeline(pipelineOf({ steps }), context)) as unknown as Results
    expect(JSON.parse(result.steps['show']?.stdout ?? '')).toEqual([
      '{"a":{"b":[true,null],"z":1},"topic":"$(touch pwned); `x` \\"\'"}',
      '{"fetch":{"rows":2}}',
      'run-1',
      '3',
      1,
    ])
  })

  it('Q9: has empty params if the run has no payload', async () => {
    const steps = [{ id: 'show', run: node('console.log(process.env.PIPELINE_PARAMS_JSON)') }]
    const { context } = contextOf({})
    expect(await performPipeline(pipelineOf({ steps }), context)).toMatchObject({
      steps: { show: { stdout: '{}' } },
    })
  })

  it('Q9: passes its params, config and the earlier results to a function', async () => {
    const seen: StepContext[] = []
    const functions = { first: () => undefined, see: (step: StepContext) => void seen.push(step) }
    const { context, lines } = contextOf({ functions, payload: { n: 1 } })
    const steps = [
      { id: 'a', uses: 'first' },
      { id: 'b', uses: 'see', config: { channel: 'web' } },
    ]
    await performPipeline(pipelineOf({ steps }), context)
    expect(seen[0]).toMatchObject({
      id: 'run-1',
      job: 'web',
      attempt: 3,
      isLastAttempt: false,
      dueAt: new Date(1000),
      step: 'b',
      params: { n: 1 },
      results: { a: null },
      config: { channel: 'web' },
    })
    seen[0]?.log('later', 'warn')
    expect(lines.at(-1)).toBe('warn later')
  })

  it('Q9: sends its params or results as a body, each request with a key of its own', async () => {
    const requests: unknown[] = []
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString('utf8')
        requests.push([request.method, request.headers['idempotency-key'], body])
        response.setHeader('content-type', 'application/json').end('{"ok":true}')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const steps = [
      { id: 'a', http: { url, method: 'POST', body: 'params' } },
      { id: 'b', http: { url, method: 'PUT', body: 'results' } },
      { id: 'c', http: { url, body: { fixed: true } } },
      { id: 'd', http: { url } },
    ]
    const { context } = contextOf({ payload: { n: 1 } })
    const result = await performPipeline(pipelineOf({ steps }), context)
    server.close()
    expect(requests).toEqual([
      ['POST', 'run-1:a', '{"n":1}'],
      ['PUT', 'run-1:b', '{"a":{"status":200,"body":{"ok":true}}}'],
      ['POST', 'run-1:c', '{"fixed":true}'],
      ['GET', 'run-1:d', ''],
    ])
    expect(result).toMatchObject({ steps: { d: { status: 200, body: { ok: true } } } })
  })

  it('fails at a function that is not registered', async () => {
    const error = await failureOf({ steps: [{ id: 'x', uses: 'gone' }] }, contextOf({}).context)
    expect(error.message).toBe('step x: no function is registered as gone in this process')
  })

  it('cuts the largest results if all together are too large to be stored', async () => {
    const functions = { big: () => 'x'.repeat(50_000), small: () => 'y'.repeat(15_000) }
    const steps = [
      { id: 'a', uses: 'big' },
      { id: 'b', uses: 'small' },
    ]
    const { context } = contextOf({ functions })
    expect(await performPipeline(pipelineOf({ steps }), context)).toEqual({
      pipeline: 'test',
      steps: { a: { rota: 'the result was cut', bytes: 50_002 }, b: 'y'.repeat(15_000) },
    })
  })
})

describe('a step', () => {
  it('is aborted at its timeout, including its command', async () => {
    const steps = [{ id: 'slow', run: node('setInterval(() => {}, 1000)'), timeout: '50ms' }]
    const error = await failureOf({ steps }, contextOf({}).context)
    expect(error).toMatchObject({ code: 'STEP_FAILED', message: 'step slow: took longer than 50 ms' })
  })

  it('whose function ignores the timeout ends without it after a while', async () => {
    const clock = new FakeClock(0)
    let signal: AbortSignal | undefined
    const functions = {
      deaf: (step: StepContext) => {
        signal = step.signal
        return new Promise(() => undefined)
      },
    }
    const { context } = contextOf({ functions, clock })
    const failing = failureOf({ steps: [{ id: 'deaf', uses: 'deaf', timeout: '1m' }] }, context)
    await clock.advance(60_000)
    expect(signal?.aborted).toBe(true)
    await clock.advance(10_000)
    expect((await failing).message).toBe('step deaf: took longer than 60000 ms')
  })

  it('is tried as often as configured, with the delay in between', async () => {
    const clock = new FakeClock(0)
    const at: number[] = []
    const functions = {
      flaky: () => {
        at.push(clock.now())
        if (at.length < 3) throw new Error('not yet')
        return 'there'
      },
    }
    const { context, lines } = contextOf({ functions, clock })
    const steps = [{ id: 'flaky', uses: 'flaky', retry: { attempts: 3, delay: '10s' } }]
    const performing = performPipeline(pipelineOf({ steps }), context)
    await clock.advance(10_000)
    await clock.advance(10_000)
    expect(await performing).toMatchObject({ steps: { flaky: 'there' } })
    expect(at).toEqual([0, 10_000, 20_000])
    expect(lines).toContain('warn step flaky: try 1 of 3 failed: not yet')
  })

  it('is not retried after a PermanentError, and neither is its run', async () => {
    let calls = 0
    const functions = {
      never: () => {
        calls += 1
        throw Object.assign(new Error('gone for good'), { name: 'PermanentError' })
      },
    }
    const steps = [{ id: 'never', uses: 'never', retry: 5 }]
    const error = await failureOf({ steps }, contextOf({ functions }).context)
    expect(error).toMatchObject({ name: 'PermanentError', message: 'step never: gone for good' })
    expect(calls).toBe(1)
  })

  it('that is aborted with its run is not a failure of the step', async () => {
    const stop = new AbortController()
    const functions = {
      wait: (step: StepContext) =>
        new Promise((_, reject) => {
          step.signal.addEventListener('abort', () => reject(new Error('stopped')))
          stop.abort(new RotaError('CANCELLED', 'cancelled on request'))
        }),
    }
    const { context } = contextOf({ functions, signal: stop.signal })
    const error = await failureOf({ steps: [{ uses: 'wait', retry: 3 }] }, context)
    expect(error.code).not.toBe('STEP_FAILED')
  })

  it('does not wait for its next try once its run is aborted', async () => {
    const clock = new FakeClock(0)
    const stop = new AbortController()
    const functions = {
      fail: () => {
        throw new Error('no')
      },
    }
    const { context } = contextOf({ functions, clock, signal: stop.signal })
    const failing = failureOf({ steps: [{ uses: 'fail', retry: { attempts: 9, delay: '1h' } }] }, context)
    await clock.advance(1)
    stop.abort()
    expect((await failing).message).toBe('step step-1: no')
  })
})

describe('another attempt', () => {
  const functions = (called: string[]) => ({ note: (step: StepContext) => called.push(step.step) })
  const steps = ['a', 'b', 'c'].map((id) => ({ id, uses: 'note' }))

  it('resumes at the step that failed, with the earlier results', async () => {
    const called: string[] = []
    const { context, lines } = contextOf({ functions: functions(called), completed: { a: 'kept', b: 2 } })
    expect(await performPipeline(pipelineOf({ steps }), context)).toMatchObject({
      steps: { a: 'kept', b: 2, c: 1 },
    })
    expect(called).toEqual(['c'])
    expect(lines[0]).toBe('info step a (1 of 3): done by an earlier attempt')
  })

  it('performs the steps after a newly added step again', async () => {
    const called: string[] = []
    const { context } = contextOf({ functions: functions(called), completed: { a: 1, c: 3 } })
    await performPipeline(pipelineOf({ steps }), context)
    expect(called).toEqual(['b', 'c'])
  })
})

interface Results {
  readonly steps: Readonly<Record<string, { readonly stdout: string }>>
}

function node(script: string): string[] {
  return [process.execPath, '-e', script]
}

function pipelineOf(input: object): Pipeline {
  const place = placeOf()
  const pipeline = readPipeline(input, { name: 'test' }, place)
  expect(place.faults).toEqual([])
  return pipeline as Pipeline
}

async function failureOf(input: object, context: PipelineContext): Promise<RotaError> {
  return await performPipeline(pipelineOf(input), context).then(
    () => {
      throw new Error('it was expected to fail')
    },
    (error: unknown) => error as RotaError,
  )
}

function contextOf(options: {
  functions?: Readonly<Record<string, StepFunction>>
  payload?: unknown
  clock?: PipelineContext['clock']
  signal?: AbortSignal
  completed?: PipelineContext['completed']
}): { context: PipelineContext; lines: string[] } {
  const lines: string[] = []
  const context: PipelineContext = {
    run: {
      id: 'run-1',
      job: 'web',
      trigger: undefined,
      attempt: 3,
      isLastAttempt: false,
      dueAt: 1000,
      partition: undefined,
      payload: options.payload,
    },
    clock: options.clock ?? systemClock,
    environment: { PATH: process.env['PATH'] },
    directory,
    privateTargets: 'allow',
    ids: { runId: 'morning_1', jobId: '96b0037ff184' },
    functions: new Map(Object.entries(options.functions ?? {})),
    completed: options.completed,
    signal: options.signal ?? new AbortController().signal,
    log: (level, text) => void lines.push(`${level} ${text}`),
  }
  return { context, lines }
}
