import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { read, written } from '../../test/fixtures/config-text.js'
import { loadApp } from '../app/definitions/load-app.js'
import type { App } from '../app/rota.js'

/** The lines of the error for a config, without the one that names the file. */
async function faultsOf(text: string): Promise<string[]> {
  const error: unknown = await read(text).catch((thrown: unknown) => thrown)
  const lines = error instanceof Error ? error.message.split('\n').slice(1) : []
  return lines.map((line) => line.trim().replace(/ \(allowed: .*/, ''))
}

/** A running app of a config, and the end of its next run. */
async function started(
  text: string,
  files: Readonly<Record<string, string>> = {},
): Promise<{ app: App; ended: Promise<unknown> }> {
  const { path, directory } = written(text)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content)
  const app = await loadApp(path, { directory, store: 'memory:' })
  onTestFinished(() => app.stop({ grace: 0 }))
  const ended = new Promise((resolve) => app.on('run:ended', resolve))
  await app.start()
  return { app, ended }
}

describe('a job with its own schedule', () => {
  it('has a trigger of the same name with all options of a trigger', async () => {
    const { definitions } = await read(`
jobs:
  nightly: { command: [x], priority: 5, cron: "0 2 * * *", timezone: Europe/Berlin, payload: [1], catchUp: all }
  often: { command: [x], every: 15m, after: finish, immediate: true }
  once: { command: [x], at: 2030-01-05T09:00:00Z }
  never: { command: [x] }
triggers:
  also: { job: nightly, every: 1h }
`)
    expect(definitions.jobs?.map(({ job }) => job.name)).toEqual(['nightly', 'often', 'once', 'never'])
    expect(definitions.triggers).toMatchObject([
      {
        trigger: {
          name: 'nightly',
          job: 'nightly',
          schedule: { kind: 'cron', expression: '0 2 * * *', timezone: 'Europe/Berlin' },
          payload: [1],
          catchUp: { mode: 'all' },
        },
        origin: { section: 'jobs' },
      },
      { trigger: { name: 'often', schedule: { kind: 'after-finish', everyMs: 900_000, immediate: true } } },
      { trigger: { name: 'once', schedule: { kind: 'once', at: Date.UTC(2030, 0, 5, 9) } } },
      { trigger: { name: 'also', job: 'nightly' } },
    ])
  })

  it('is refused with the faults of its trigger, each in its place', async () => {
    const text = `jobs:
  both: { command: [x], cron: "0 2 * * *", every: 1h }
  wrong: { command: [x], cron: "0 25 * * *", catchUp: some }
  no schedule: { command: [x], every: 1h, timezone: UTC }
  lonely: { command: [x], payload: 1 }
  twice: { command: [x], every: 1h }
triggers:
  twice: { job: both, every: 1h }
`
    expect(await faultsOf(text)).toEqual([
      'rota.config.yaml:2:3: jobs.both: cron and every cannot be combined',
      expect.stringMatching(/^rota\.config\.yaml:3:26: jobs\.wrong\.cron: .*25/),
      'rota.config.yaml:3:46: jobs.wrong.catchUp: "some" is not allowed',
      'rota.config.yaml:4:3: jobs.no schedule: "no schedule" is not a name',
      'rota.config.yaml:4:43: jobs.no schedule.timezone: it cannot be used with every',
      'rota.config.yaml:5:27: jobs.lonely.payload: it requires cron, every or at',
      'rota.config.yaml:8:3: triggers.twice: jobs already defines a trigger of this name',
    ])
  })
})

describe('the timezone of a config', () => {
  it('is the default zone of schedules, and of times without an offset', async () => {
    const { definitions } = await read(`
timezone: Asia/Tokyo
jobs:
  own: { command: [x], cron: "0 2 * * *" }
triggers:
  cron: { job: own, cron: "0 2 * * *", start: 2030-01-01T00:00 }
  other: { job: own, cron: "0 2 * * *", timezone: Europe/Berlin }
  local: { job: own, at: 2030-01-05T09:00 }
  exact: { job: own, at: 2030-01-05T09:00:00Z }
  grid: { job: own, every: 1h, anchor: 2030-01-05T09:00 }
`)
    const schedules = definitions.triggers?.map(({ trigger }) => [trigger.name, trigger.schedule])
    expect(Object.fromEntries(schedules ?? [])).toMatchObject({
      own: { timezone: 'Asia/Tokyo' },
      cron: { timezone: 'Asia/Tokyo', startAt: Date.UTC(2029, 11, 31, 15) },
      other: { timezone: 'Europe/Berlin' },
      local: { at: Date.UTC(2030, 0, 5, 0) },
      exact: { at: Date.UTC(2030, 0, 5, 9) },
      grid: { anchorAt: Date.UTC(2030, 0, 5, 0) },
    })
  })

  it('must be a zone', async () => {
    expect(await faultsOf('timezone: EST\n')).toEqual([
      'rota.config.yaml:1:1: timezone: "EST" is not a time zone: abbreviations are not accepted; did you mean America/New_York?',
    ])
  })
})

describe('the env of a config', () => {
  it('is passed to every command; the variables of a command have priority', async () => {
    const { definitions } = await read(`
env: { STAGE: test, API_TOKEN: { env: HOST_TOKEN } }
jobs:
  plain: { command: [x] }
  own: { command: { argv: [x], env: { STAGE: live, MORE: "1" } } }
  line: { shell: "true" }
  request: { http: { url: "https://example.org/" } }
  steps: { pipeline: steps.yaml }
`)
    const env = { STAGE: 'test', API_TOKEN: { env: 'HOST_TOKEN' } }
    expect(definitions.jobs?.map(({ job }) => job.handler)).toEqual([
      { kind: 'shell', argv: ['x'], env },
      { kind: 'shell', argv: ['x'], env: { ...env, STAGE: 'live', MORE: '1' } },
      { kind: 'shell', argv: ['/bin/sh', '-c', 'true'], env },
      { kind: 'http', url: 'https://example.org/', method: 'GET' },
      { kind: 'pipeline', path: 'steps.yaml', env },
    ])
  })

  it('is passed to the commands of pipeline steps; the variables of a step have priority', async () => {
    const steps = `
steps:
  - { id: given, run: [printenv, STAGE] }
  - { id: own, run: { argv: [printenv, STAGE], env: { STAGE: live } } }
`
    const config =
      'env: { STAGE: test }\njobs:\n  both: { pipeline: steps.yaml, every: 1h, immediate: true }\n'
    const { ended } = await started(config, { 'steps.yaml': steps })
    expect(await ended).toMatchObject({
      state: 'done',
      result: { steps: { given: { stdout: 'test' }, own: { stdout: 'live' } } },
    })
  })

  it('accepts no literal secret, and no variable of Rota', async () => {
    expect(await faultsOf('env:\n  API_TOKEN: abc\n  ROTA_JOB: x\n  "a b": c\n')).toEqual([
      'rota.config.yaml:2:3: env.API_TOKEN: a secret does not belong in a definition',
      'rota.config.yaml:3:3: env.ROTA_JOB: names that begin with ROTA_ are set by Rota',
      'rota.config.yaml:4:3: env.a b: it is not the name of a variable',
    ])
  })
})

describe('a job that is a line for a shell', () => {
  it('is run by /bin/sh, which sees the payload only as a variable', async () => {
    const { ended } = await started(`
env: { WHO: world }
jobs:
  greet:
    shell: 'echo "hello $WHO" | tr a-z A-Z && echo "$ROTA_PAYLOAD"'
    every: 1h
    immediate: true
    payload: "$(echo injected); echo injected"
`)
    expect(await ended).toMatchObject({
      job: 'greet',
      trigger: 'greet',
      state: 'done',
      result: { exitCode: 0, stdout: 'HELLO WORLD\n"$(echo injected); echo injected"' },
    })
  })

  it('must be a text, and cannot be combined with a command', async () => {
    expect(
      await faultsOf('jobs: { a: { shell: [ls] }, b: { shell: "" }, c: { shell: ls, command: [ls] } }'),
    ).toEqual([
      'rota.config.yaml:1:14: jobs.a.shell: a list is not a text',
      'rota.config.yaml:1:34: jobs.b.shell: it is empty',
      'rota.config.yaml:1:47: jobs.c: command and shell cannot be combined',
    ])
  })
})
