import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { emptyDirectory, rota } from './rota.js'
import { app, linesOf, up } from './uncaught-app.js'

it('timers and handles of a config do not prevent a command from ending', async () => {
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
      'an uncaught error that belongs to no run and no sensor: of the program [INTERNAL]; waiting up to 5s for 1 run (hangs), then stopping',
    )
  })
})

describe('process.exit in the code of a run', () => {
  it('is an error of rota up: exit code 70, and a line that names the caller and the running attempts', async () => {
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
      /^process\.exit\(0\) was called by run \w{36} of leaves; it interrupted 2 runs \((leaves, runs|runs, leaves)\), which counts as a crash; exit code 70$/,
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

  it('gets the default behaviour of Node unless it traces errors', () => {
    const crashed = program('')
    expect(crashed).toMatchObject({ status: 1, said: expect.stringContaining('Error: forgotten') as unknown })
  })
})
