import { fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { JobInput } from '../../kernel/job/define-job.js'
import type { Run } from '../../app/public-types.js'
import { rota, type Rota } from '../../app/rota.js'

const module = fileURLToPath(new URL('./test/isolated-handlers.mjs', import.meta.url))
const library = new URL('../../../dist/index.js', import.meta.url).href

type Options = Omit<JobInput, 'handler' | 'command'>

/** An app on the real clock whose jobs are the exports of the fixture, by name. */
async function started(
  jobs: Readonly<Record<string, Options>>,
  inline: Readonly<Record<string, () => unknown>> = {},
) {
  const app = rota({ store: 'memory:' })
  for (const [name, options] of Object.entries(jobs)) {
    app.job(name, { handler: { module, export: name }, ...options })
  }
  for (const [name, handler] of Object.entries(inline)) app.job(name, handler)
  await app.start()
  onTestFinished(() => app.stop({ grace: 0 }))
  return app
}

async function performed(app: Rota, job: string, payload?: unknown): Promise<Run> {
  return await app.runs.wait((await app.enqueue(job, payload)).id)
}

async function linesOf(app: Rota, run: Run): Promise<string[]> {
  return (await app.runs.logs(run.id)).map(({ level, text }) => `${level} ${text}`)
}

/** A killed process may stay in the list as a zombie until its parent collects it. */
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}

/** Resolves when a process is gone; there is no event for the end of another process's child. */
async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe.each(['thread', 'process'] as const)('N8: a handler in its own %s', (isolate) => {
  it('gets the whole context of its run, and its result, log and output are stored', async () => {
    const app = await started({ default: { isolate } })
    const run = await performed(app, 'default', { customer: 7 })
    expect(run.result).toEqual({
      id: run.id,
      job: 'default',
      trigger: null,
      attempt: 1,
      partition: null,
      payload: { customer: 7 },
      dueAt: new Date(run.dueAt).toISOString(),
      pid: isolate === 'thread' ? process.pid : expect.any(Number),
      fence: isolate === 'thread' ? null : '1',
    })
    expect((await linesOf(app, run)).toSorted()).toEqual(['info printed', 'warn counting'])
    if (isolate === 'process') expect((run.result as { pid: number }).pid).not.toBe(process.pid)
  })

  it.each([
    ['throws', { code: 'NO_CUSTOMER', message: 'no such customer' }],
    ['forgets', { code: 'HANDLER_FAILED', message: 'nobody awaits this' }],
    ['throwsLater', { code: 'HANDLER_FAILED', message: 'thrown by a callback' }],
    ['exits', { code: 'HANDLER_EXITED', message: expect.stringContaining('exit 3: about to exit') }],
    ['notAFunction', { code: 'HANDLER_MISSING', message: expect.stringContaining('notAFunction') }],
  ])('fails only its own run where it %s', async (job, error) => {
    const app = await started({ [job]: { isolate } })
    const run = await performed(app, job)
    expect(run).toMatchObject({ state: 'failed', attempt: 1, error })
    expect(app.isReady).toBe(true)
  })

  it('affects nothing else if it sends garbage to its worker', async () => {
    const app = await started({ talksNonsense: { isolate } })
    const run = await performed(app, 'talksNonsense')
    expect(run).toMatchObject({ state: 'done', result: 'well all the same' })
    expect(app.isReady).toBe(true)
  })

  it('is not retried after a PermanentError, and is retried after other errors', async () => {
    const app = await started({
      refuses: { isolate, retry: 3 },
      exits: { isolate, retry: { attempts: 2, delay: 0 } },
    })
    const [refused, exited] = await Promise.all([performed(app, 'refuses'), performed(app, 'exits')])
    expect(refused).toMatchObject({ state: 'failed', attempt: 1, error: { message: 'will never work' } })
    expect(exited).toMatchObject({ state: 'failed', attempt: 2 })
  })

  it('blocks while others continue', async () => {
    const app = await started({ blocks: { isolate } }, { quick: () => 'quick' })
    const blocks = new Promise<void>((resolve) => app.on('run:log', () => resolve()))
    const ended: string[] = []
    const blocked = performed(app, 'blocks', { forMs: 1000 }).finally(() => ended.push('blocks'))
    await blocks
    for (let i = 0; i < 20; i++) await performed(app, 'quick').finally(() => ended.push('quick'))
    expect(await blocked).toMatchObject({ state: 'done', result: 'blocked' })
    expect(ended.indexOf('blocks')).toBeGreaterThan(10)
  })

  it('is terminated after its timeout, even if it ignores its signal, and frees its slot', async () => {
    const app = await started({
      spins: { isolate, timeout: 1000 },
      never: { isolate, timeout: 1000 },
      heeds: { isolate, timeout: 1000 },
    })
    const stuck: string[] = []
    app.on('run:stuck', ({ job }) => stuck.push(job))
    const runs = await Promise.all(['spins', 'never', 'heeds'].map((job) => performed(app, job)))
    for (const run of runs) expect(run).toMatchObject({ state: 'failed', error: { code: 'TIMED_OUT' } })
    expect(stuck).toEqual([])
  })

  it('can use no more than its memory limit', async () => {
    const app = await started({ leaks: { isolate, memoryMb: 32 } })
    const run = await performed(app, 'leaks')
    expect(run).toMatchObject({ state: 'failed', error: { code: 'HANDLER_EXITED' } })
    if (isolate === 'thread') expect(run.error?.message).toContain('memory limit of 32 MiB')
    else expect(run.error?.message).toContain('SIGABRT')
  })

  it('has a bounded result, and ends even if a timer is left', async () => {
    const app = await started({ returnsMuch: { isolate }, leavesBehind: { isolate } })
    const [much, left] = await Promise.all([performed(app, 'returnsMuch'), performed(app, 'leavesBehind')])
    expect(much).toMatchObject({ state: 'done', result: { rota: 'the result was cut' } })
    expect(left).toMatchObject({ state: 'done', result: 'done all the same' })
  })

  it('is released when its worker stops', async () => {
    const app = await started({ heeds: { isolate } })
    const begun = new Promise<void>((resolve) => app.on('run:started', () => resolve()))
    const ends: string[] = []
    app.on('run:ended', ({ end }) => ends.push(end))
    await app.enqueue('heeds')
    await begun
    await app.stop({ grace: 0 })
    expect(ends).toEqual(['released'])
  })
})

describe.runIf(process.platform === 'linux')('N8: the process of a handler', () => {
  it('fails its run if it closes the channel', async () => {
    const app = await started({ hangsUp: { isolate: 'process' } })
    expect(await performed(app, 'hangsUp')).toMatchObject({
      state: 'failed',
      error: { code: 'HANDLER_EXITED' },
    })
  })

  it.each(['spins', 'startsAnother'])('does not outlive a worker that is killed (%s)', async (job) => {
    const directory = await mkdtemp(join(tmpdir(), 'rota-isolate-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const program = join(directory, 'app.mjs')
    await writeFile(
      program,
      `import { rota } from ${JSON.stringify(library)}
       const app = rota({ store: 'memory:' })
       app.job('it', { handler: { module: ${JSON.stringify(module)}, export: '${job}' }, isolate: 'process' })
       app.on('run:log', ({ text }) => process.send(text))
       await app.start()
       await app.enqueue('it')`,
    )
    const worker = fork(program, { execArgv: [] })
    const said = await new Promise<string>((resolve) =>
      worker.once('message', (text) => resolve(text as string)),
    )
    const pid = Number(/\d+$/.exec(said)?.[0])
    expect(isAlive(pid)).toBe(true)
    worker.kill('SIGKILL')
    await gone(pid)
  })
})

describe('N8: a module as a handler', () => {
  it('runs in the process of the worker unless it is isolated, and may be TypeScript', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rota-isolate-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const text = 'export const pidOf = (run: { job: string }): string => `${run.job} ${process.pid}`\n'
    await writeFile(join(directory, 'typed.ts'), text)
    await writeFile(join(directory, 'plain.mjs'), text.replaceAll(/: (\{.*?\}|string)/g, ''))
    const app = rota({ store: 'memory:', directory })
    app.job('inside', { handler: { module: './plain.mjs', export: 'pidOf' } })
    for (const isolate of ['thread', 'process'] as const) {
      app.job(isolate, { handler: { module: 'typed.ts', export: 'pidOf' }, isolate })
    }
    await app.start()
    onTestFinished(() => app.stop({ grace: 0 }))
    expect((await performed(app, 'inside')).result).toBe(`inside ${process.pid}`)
    expect((await performed(app, 'thread')).result).toBe(`thread ${process.pid}`)
    expect((await performed(app, 'process')).result).toMatch(/^process \d+$/)
  })

  it('that is missing is reported at the start, and fails the run if it disappears later', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rota-isolate-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const app = rota({ store: 'memory:', directory })
    app.job('gone', { handler: { module: './gone.mjs' }, isolate: 'thread' })
    await expect(app.start()).rejects.toMatchObject({
      code: 'DEFINITION_INVALID',
      faults: [{ path: 'jobs.gone.handler.module', message: `there is no ${join(directory, 'gone.mjs')}` }],
    })
    await writeFile(join(directory, 'gone.mjs'), '')
    await app.start()
    onTestFinished(() => app.stop({ grace: 0 }))
    await rm(join(directory, 'gone.mjs'))
    const { error } = await performed(app, 'gone')
    expect(error).toMatchObject({ code: 'HANDLER_MISSING', message: expect.stringContaining('gone.mjs') })
  })
})
