import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadApp } from '../../src/app/definitions/load-app.js'
import { runHere } from './in-process.js'
import { emptyDirectory } from './rota.js'

const job = { command: ['node', '-e', ''] }

/** A directory with a config, and the output of commands there. */
function stage(config: object) {
  const directory = emptyDirectory()
  const write = (next: object): void =>
    writeFileSync(join(directory, 'rota.config.json'), JSON.stringify({ app: 'shop', ...next }))
  write(config)
  const ask = async (...argv: string[]) => await runHere(argv, { directory, environment: { TZ: 'UTC' } })
  const json = async (...argv: string[]) => {
    const { code, stdout } = await ask(...argv, '--json')
    return { code, answer: JSON.parse(stdout) as Record<string, unknown> }
  }
  /** Writes the definitions to the store, as a start does. */
  const deploy = async (): Promise<void> => {
    const app = await loadApp(join(directory, 'rota.config.json'), { directory })
    await app.start({ roles: { scheduler: true, worker: false } })
    await app.stop({ grace: 0 })
  }
  return { directory, write, ask, json, deploy }
}

it('check finds all faults of a config, with their places, and its exit code says so', async () => {
  const { ask, json, write } = stage({
    jobs: { a: { ...job, retry: 0 } },
    triggers: { t: { job: 'a', cron: '61 * * * *', overlap: 'sometimes' } },
  })
  const told = await ask('check')
  expect(told.code).toBe(1)
  expect(told.stdout).toMatch(/rota\.config\.json:\d+:\d+: jobs\.a\.retry/)
  expect(told.stdout).toMatch(/triggers\.t\.cron/)
  expect(told.stdout).toMatch(/triggers\.t\.overlap/)
  expect(told.stdout).toMatch(/3 faults/)
  write({ jobs: { a: job }, triggers: { t: { job: 'a', every: '1h' } } })
  expect((await json('check')).answer).toMatchObject({ ok: true, faults: [] })
  expect((await ask('check', 'nothing.yaml')).code).toBe(2)
})

it('check reports the faults of files, modules, pipelines and other definitions together', async () => {
  const { directory, json } = stage({
    jobs: {
      gone: { handler: { module: './gone.mjs' } },
      piped: { pipeline: 'pipe.yaml' },
    },
    triggers: { t: { job: 'nobody', every: '1h' }, over: { job: 'piped', cron: '0 0 0 1 1 * 2020' } },
  })
  writeFileSync(join(directory, 'pipe.yaml'), 'steps: [{ name: one }]\n')
  const { code, answer } = await json('check')
  const messages = (answer['faults'] as { code: string; path: string }[]).map(
    (fault) => `${fault.code} ${fault.path}`,
  )
  expect(code).toBe(1)
  expect(messages).toEqual(
    expect.arrayContaining([
      'DEFINITION_INVALID jobs.gone.handler.module',
      expect.stringMatching(/^PIPELINE_INVALID steps/),
      'DEFINITION_INVALID triggers.t.job',
      'DEFINITION_INVALID triggers.over.cron',
    ]),
  )
})

it('check reports names that another source owns', async () => {
  const { directory, deploy, write, json } = stage({
    jobs: { a: job },
    triggers: { t: { job: 'a', every: '1h' } },
  })
  await deploy()
  mkdirSync(join(directory, 'data'), { recursive: true })
  write({ app: 'other', jobs: { b: job }, triggers: { t: { job: 'b', every: '2h' } } })
  const { answer } = await json('check')
  expect(answer['faults']).toMatchObject([{ code: 'DEFINITION_CONFLICT', path: 'triggers.t' }])
})

it('lint reports surprising settings, each with place, effect and advice; --strict sets the exit code', async () => {
  const midnight = Object.fromEntries(
    ['a', 'b', 'c', 'd', 'e'].map((name) => [`m-${name}`, { job: 'a', cron: '0 0 * * *' }]),
  )
  const { ask, json, write } = stage({
    jobs: { a: job },
    calendars: { always: { weekdays: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] } },
    triggers: {
      both: { job: 'a', cron: '0 9 1 * 1' },
      gap: { job: 'a', cron: '30 2 * * *', timezone: 'Europe/Berlin' },
      six: { job: 'a', cron: '* 0 9 * * *' },
      never: { job: 'a', cron: '0 9 * * *', calendar: { exclude: 'always' } },
      ...midnight,
    },
  })
  const { code, answer } = await json('lint')
  const found = answer['findings'] as { rule: string; triggers: string[]; where: string; todo: string }[]
  expect(code).toBe(0)
  expect(found.map(({ rule, triggers }) => `${rule} ${triggers[0]}`)).toEqual([
    'either-day both',
    'clock-change gap',
    'every-second six',
    'never never',
    'midnight m-a',
  ])
  for (const { where, todo } of found)
    expect([where, todo]).toEqual([expect.stringMatching(/:\d+:\d+$/), expect.any(String)])
  expect((await ask('lint', '--strict')).code).toBe(1)
  write({ jobs: { a: job }, triggers: { t: { job: 'a', cron: '30 9 * * *' } } })
  expect(await ask('lint', '--strict')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/no findings/),
  })
})

it('diff shows what a deploy changes: definitions, due times, load; exit codes 0, 1 and 2', async () => {
  const start = {
    jobs: { a: job, b: job },
    triggers: {
      keep: { job: 'a', every: '1d', anchor: '2026-01-01T03:33:00Z' },
      move: { job: 'a', cron: '0 9 * * *' },
      drop: { job: 'b', cron: '0 12 * * *' },
    },
  }
  const { ask, json, write, deploy } = stage(start)
  const before = await json('diff', '--days', '2')
  expect([before.code, (before.answer['triggers'] as { kind: string }[]).map(({ kind }) => kind)]).toEqual([
    1,
    ['added', 'added', 'added'],
  ])
  await deploy()
  expect(await ask('diff')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/no difference; 3 triggers/),
  })
  write({
    jobs: { a: job, c: job },
    triggers: {
      keep: { job: 'a', every: '1d', anchor: '2026-01-01T03:33:00Z' },
      move: { job: 'a', cron: '0 10 * * *' },
      fresh: { job: 'c', cron: '0 10 * * *', overlap: 'allow' },
    },
  })
  const { code, answer } = await json('diff', '--days', '3')
  expect(code).toBe(1)
  expect(answer).toMatchObject({
    same: false,
    unchanged: 1,
    jobs: { added: ['c'], changed: [], removed: ['b'] },
  })
  const triggers = answer['triggers'] as {
    name: string
    kind: string
    fields: string[]
    appear: unknown[]
    vanish: unknown[]
    moved: unknown[]
  }[]
  expect(triggers.map(({ name, kind, fields }) => [name, kind, fields])).toEqual([
    ['move', 'changed', ['schedule.expression']],
    ['fresh', 'added', []],
    ['drop', 'removed', []],
  ])
  expect(
    triggers.map(({ appear, vanish, moved }) => appear.length + vanish.length + 2 * moved.length),
  ).toEqual([6, 3, 3])
  const { before: old, after } = answer['load'] as { before: { peak: number }; after: { peak: number } }
  expect([old.peak, after.peak]).toEqual([1, 2])
  write({ jobs: { a: job }, triggers: { keep: { job: 'nobody', every: '1h' } } })
  expect((await ask('diff')).code).toBe(2)
})
