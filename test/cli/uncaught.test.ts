import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { emptyDirectory, rota, type Ended } from './rota.js'
import { app, linesOf, up, wait } from './uncaught-app.js'

it('what the code of a config leaves behind keeps no command from ending', async () => {
  const cwd = emptyDirectory()
  const config = (more: string): string =>
    `setInterval(() => 0, 1e6); export default { store: 'sqlite:rota.db', jobs: { a: { command: ['true'] } }${more} }`
  writeFileSync(join(cwd, 'rota.config.mjs'), config(''))
  expect(await rota(['add', 'b', '--every', '1h', '--', 'true'], { cwd })).toMatchObject({ code: 0 })
  expect(await rota(['list'], { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('every 1h'),
  })
  writeFileSync(join(cwd, 'rota.config.mjs'), config(`, triggers: { t: { job: 'nobody', every: '1h' } }`))
  expect(await rota(['up'], { cwd })).toMatchObject({ code: 2 })
})

describe('rota up and an error that nobody caught', () => {
  it('fails the run that it comes from, and everything else goes on', async () => {
    const engine = up(
      app({
        forgets: `async () => { void Promise.reject(new Error('forgotten')) }`,
        throwsLater: `(run) => new Promise((resolve) => {
            run.signal.addEventListener('abort', resolve)
            setTimeout(() => { throw new Error('thrown by a timer') }, 10)
          })`,
        late: `() => { setTimeout(() => void Promise.reject(new Error('after the end')), 200) }`,
        good: `async () => { await wait(300) }`,
      }),
    )
    for (const text of [/"trigger":"good".*"state":"done"/, 'was decided: after the end'])
      await engine.said(text)
    engine.child.kill('SIGTERM')
    const ended = await engine.ended
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    const lines = linesOf(ended)
    const ends = lines.flatMap(({ event, trigger, state, error }) =>
      event === 'run:ended'
        ? [`${String(trigger)} ${String(state)} ${String((error as Error | null)?.message)}`]
        : [],
    )
    expect(ends.toSorted()).toEqual([
      'forgets failed forgotten',
      'good done undefined',
      'late done undefined',
      'throwsLater failed thrown by a timer',
    ])
  })

  it('says what it waits for where the error comes from no run, and waits for 5 s instead of the grace', async () => {
    const stray = `const begun = new Promise((resolve) => app.on('run:started', resolve))
      begun.then(() => { throw new Error('of the program') })`
    const engine = up(app({ hangs: '() => new Promise(() => {})' }, stray))
    await engine.said(
      'an uncaught error of no run and no sensor: of the program [INTERNAL]; waiting up to 5s for 1 run (hangs), then stopping',
    )
  })
})

describe('process.exit in the code of a run', () => {
  it('is no success of rota up: exit code 70, and a line that names who called it and what ran', async () => {
    const engine = up(
      app({ leaves: `async () => { await wait(300); process.exit(0) }`, runs: `async () => wait(60_000)` }),
    )
    const ended = await engine.ended
    expect(ended.code).toBe(70)
    const last = linesOf(ended).at(-1)
    expect(last).toMatchObject({
      level: 'error',
      event: 'exit',
      code: 0,
      running: [expect.anything(), expect.anything()],
    })
    expect(last?.['calledBy']).toMatch(/^run \w{36} of leaves$/)
    expect(last?.['msg']).toMatch(
      /^process\.exit\(0\) was called by run \w{36} of leaves; it cut off 2 runs \((leaves, runs|runs, leaves)\), which counts as a crash; exit code 70$/,
    )
  })
})

describe('rota work and the functions of pipelines', () => {
  /** A queue with one due run whose only step is a function of the config. */
  async function work(
    step: string,
    more = '',
    ...args: readonly string[]
  ): Promise<Ended & { readonly files: readonly string[] }> {
    const cwd = emptyDirectory()
    writeFileSync(join(cwd, 'rota.config.mjs'), `${wait}\n${more}\nexport default { steps: { it: ${step} } }`)
    writeFileSync(join(cwd, 'pipeline.yml'), 'steps: [{ uses: it }]')
    mkdirSync(join(cwd, 'data/queue/pending'), { recursive: true })
    const name = '20260105T110000Z_a1.json'
    const run = {
      schema_version: 'v1',
      job_id: 'a1',
      scheduled_for: '2026-01-05T11:00:00Z',
      run_id: 'morning_a1',
    }
    writeFileSync(
      join(cwd, 'data/queue/pending', name),
      JSON.stringify({ ...run, pipeline_path: 'pipeline.yml' }),
    )
    const ended = await rota(['work', ...args], { cwd, env: { WORKER_ENABLED: 'on' } })
    const files = ['pending', 'running', 'done', 'failed'].flatMap((folder) => {
      const path = join(cwd, 'data/queue', folder)
      return existsSync(path) ? readdirSync(path).map((file) => `${folder}/${file}`) : []
    })
    return { ...ended, files: files.filter((file) => file.endsWith(name)) }
  }

  const [pending, active, done, failed] = ['pending', 'running', 'done', 'failed'].map((folder) => [
    `${folder}/20260105T110000Z_a1.json`,
  ])

  it('fails the run whose step forgot a promise', async () => {
    const worked = await work(`async () => { void Promise.reject(new Error('forgotten')); await wait(20) }`)
    expect(worked).toMatchObject({ code: 1, files: failed, stderr: '' })
    expect(worked.stdout).toContain('morning_a1 failed after')
    expect(worked.stdout).toContain('forgotten')
  })

  it('leaves a run as it ended where the error comes later, and says so', async () => {
    const worked = await work(`() => void setTimeout(() => { throw new Error('after the end') }, 1000)`)
    expect(worked).toMatchObject({ code: 0, files: done })
    expect(worked.stdout + worked.stderr).toContain('after the end')
  })

  it('ends although a step leaves something behind', async () => {
    expect(await work('() => void setInterval(() => 0, 1e6)')).toMatchObject({ code: 0, files: done })
  })

  it('ends with 70 where a step calls process.exit, and leaves its run to be taken back', async () => {
    const worked = await work('() => process.exit(0)')
    expect(worked).toMatchObject({ code: 70, files: active })
    expect(worked.stderr).toMatch(
      /^error: process\.exit\(0\) was called by run \w+ of pipeline; it cut off morning_a1, which counts as a crash; exit code 70\n$/,
    )
  })

  it('hands its run back and ends with 70 where the error comes from no run', async () => {
    const stray = `let begin = () => {}
      new Promise((resolve) => (begin = resolve)).then(() => { throw new Error('of the config') })`
    const step = `({ signal }) => new Promise((resolve) => {
      signal.addEventListener('abort', resolve)
      begin()
    })`
    // A config that is named is loaded before anything is taken; otherwise it is code of the run that needs it first.
    const worked = await work(step, stray, '--config', 'rota.config.mjs')
    expect(worked).toMatchObject({ code: 70, files: pending })
    expect(worked.stderr).toContain(
      'error: an uncaught error of no run: of the config [INTERNAL]; waiting up to 10s to release morning_a1\n',
    )
  })
})

describe('a program that uses the library', () => {
  /** Runs a program that performs the job `forgets` and then `good`. */
  function program(listeners: string): { readonly status: number | null; readonly said: string } {
    const cwd = emptyDirectory()
    const code = app(
      { forgets: `async () => { void Promise.reject(new Error('forgotten')); await wait(20) }` },
      `${listeners}
      app.on('run:ended', async ({ state, error }) => {
        console.log(state, error?.message)
        await app.stop()
      })
      await app.start()`,
    )
    writeFileSync(join(cwd, 'app.mjs'), code)
    const { status, stdout, stderr } = spawnSync(process.execPath, ['app.mjs'], { cwd, encoding: 'utf8' })
    return { status, said: stdout + stderr }
  }

  it('decides itself what an error that nobody caught does', () => {
    const own = program(`const errors = app.traceErrors()
      process.on('unhandledRejection', (error) => { if (!errors.take(error)) throw error })`)
    expect(own).toEqual({ status: 0, said: 'failed forgotten\n' })
    const ofNoRun = program(`const errors = app.traceErrors()
      process.on('unhandledRejection', (error) => { if (!errors.take(error)) throw error })
      void Promise.reject(new Error('of the program'))`)
    expect(ofNoRun).toMatchObject({ status: 1, said: expect.stringContaining('of the program') as unknown })
  })

  it('keeps what Node does with such an error where it asks for nothing', () => {
    const crashed = program('')
    expect(crashed).toMatchObject({ status: 1, said: expect.stringContaining('Error: forgotten') as unknown })
  })
})
