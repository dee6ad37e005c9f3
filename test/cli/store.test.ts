import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { Rota } from '../../src/app/rota.js'
import { commands } from '../../src/cli/commands.js'
import { emptyDirectory, rota, tooWide, type Ended } from './rota.js'

const directory = emptyDirectory()
const store = `sqlite:${join(directory, 'rota.db')}`
let doneId = ''
let failedId = ''
let waitingId = ''

/** A store with what a small app leaves behind: a run that worked, one that failed, one that waits, a pause. */
beforeAll(async () => {
  const app = new Rota({ store, lease: '2s' }, 'config:shop')
  const greet = app.job('greet', (run) => {
    run.log('hello\u001b[31m')
    return { greeted: true }
  })
  const broken = app.job('broken', () => {
    throw new Error('the disk is made of cheese, which is a very long message for a table')
  })
  app.define('later', { command: ['node', '-e', ''], queue: 'slow' })
  app.schedule('nightly', { job: greet, cron: '0 2 * * *', timezone: 'America/New_York' })
  app.schedule('a-trigger-with-quite-a-long-name-indeed', { job: broken, every: '1h' })
  app.schedule('welcome', { job: greet, at: '2026-01-01T00:00:00Z' })
  await app.start()
  doneId = (await app.enqueue(greet, { name: 'world' })).id
  failedId = (await app.enqueue(broken)).id
  waitingId = (await app.enqueue('later', undefined, { delay: '1h', uniqueKey: 'k' })).id
  await Promise.all([app.wait(doneId), app.wait(failedId)])
  const welcome = (await app.runs({ trigger: 'welcome' }))[0]
  if (welcome !== undefined) await app.wait(welcome.id)
  await app.stop()
})

/** Runs a command on the store of this test. */
async function on(...args: string[]): Promise<Ended> {
  const end = args.indexOf('--')
  const at = end === -1 ? args.length : end
  return await rota([...args.slice(0, at), '--store', store, ...args.slice(at)])
}

/** What a command prints, which must have worked and fit 80 columns without an escape code. */
async function printed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await on(...args)
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
  expect(tooWide(stdout)).toEqual([])
  expect(stdout).not.toContain('\u001b')
  return stdout
}

async function json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await on(...args, '--json')
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
  return JSON.parse(stdout) as T
}

describe('a store that is not there', () => {
  const reading = Object.keys(commands).filter(
    (name) => !['init', 'up', 'next', 'add', 'completion'].includes(name),
  )
  const words: Record<string, string[]> = {
    show: ['x'],
    remove: ['x'],
    run: ['x'],
    enqueue: ['x'],
    logs: ['x'],
    cancel: ['x'],
    retry: ['x'],
    pause: ['x'],
    resume: ['x'],
    why: ['x'],
  }

  it('is not made by a command that needs one, which says so', async () => {
    const cwd = emptyDirectory()
    const ended = await Promise.all(reading.map((name) => rota([name, ...(words[name] ?? [])], { cwd })))
    for (const [index, { code, stdout, stderr }] of ended.entries()) {
      expect({ name: reading[index], code, stdout }).toEqual({ name: reading[index], code: 3, stdout: '' })
      expect(stderr).toContain(
        'data/rota.db does not exist yet; `rota up` makes it, and --store names another [STORE_NOT_FOUND]',
      )
    }
    expect(existsSync(join(cwd, 'data'))).toBe(false)
  }, 60_000)

  it('or is none at all, is refused', async () => {
    const { code, stderr } = await rota(['runs', '--store', 'mysql://x'])
    expect(code).toBe(2)
    expect(stderr).toContain('[STORE_URL]')
  })

  it('is found through the environment, or through the config of the directory', async () => {
    const cwd = emptyDirectory()
    writeFileSync(join(cwd, 'rota.config.json'), JSON.stringify({ store }))
    const [environment, config, broken] = await Promise.all([
      rota(['list', '--names'], { env: { ROTA_STORE: store } }),
      rota(['list', '--names'], { cwd }),
      rota(['list', '--config', 'nowhere.yaml'], { cwd }),
    ])
    expect(environment.stdout).toBe('a-trigger-with-quite-a-long-name-indeed\nnightly\nwelcome\n')
    expect(config.stdout).toBe(environment.stdout)
    expect(broken).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[CONFIG_NOT_FOUND]') as unknown,
    })
  })
})

describe('rota list and show', () => {
  it('print tables that fit', async () => {
    const [triggers, jobs, queues, trigger, job, run] = await Promise.all([
      printed('list'),
      printed('list', '--jobs'),
      printed('list', '--queues'),
      printed('show', 'nightly'),
      printed('show', 'later'),
      printed('show', failedId.slice(0, 16)),
    ])
    expect(triggers).toMatch(/^TRIGGER .*NEXT \(UTC\).*STATE\n/)
    expect(triggers).toMatch(/nightly +greet +0 2 \* \* \* America/)
    expect(triggers).toMatch(/welcome .* over\n/)
    expect(jobs).toMatch(/later +node -e '' +slow +1 +config:shop/)
    expect(queues).toMatch(/default +none +0 +0 +on\n/)
    expect(trigger).toMatch(/^when +0 2 \* \* \* America\/New_York$/m)
    expect(job).toMatch(/^triggers +none; /m)
    expect(run).toContain(failedId)
    expect(run).toMatch(/^error +the disk is made of cheese/m)
  })

  it('give JSON with instants as texts', async () => {
    const [triggers, jobs, queues, trigger, run] = await Promise.all([
      json<Record<string, unknown>[]>('list'),
      json<unknown[]>('list', '--jobs'),
      json<unknown[]>('list', '--queues'),
      json('show', 'nightly'),
      json('show', doneId),
    ])
    expect(triggers.map(({ name }) => name)).toEqual([
      'a-trigger-with-quite-a-long-name-indeed',
      'nightly',
      'welcome',
    ])
    expect(triggers[1]).toMatchObject({
      job: 'greet',
      state: 'on',
      schedule: {
        kind: 'cron',
        expression: '0 2 * * *',
        timezone: 'America/New_York',
        dst: 'vixie',
        startAt: null,
      },
      nextAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT0[67]:00:00Z$/) as unknown,
      overlap: 'skip',
    })
    expect(jobs).toHaveLength(3)
    expect(queues).toContainEqual({ name: 'default', concurrency: null, paused: false, ready: 0, running: 0 })
    expect(trigger).toMatchObject({ kind: 'trigger', job: { name: 'greet' }, hold: null })
    expect(run).toMatchObject({
      kind: 'run',
      run: { id: doneId, state: 'done', payload: { name: 'world' }, result: { greeted: true }, error: null },
      attempts: [{ attempt: 1, end: 'done' }],
    })
  })

  it('say what is unknown', async () => {
    const [name, job, id] = await Promise.all([
      on('show', 'nighty'),
      on('show', 'nightly', '--as', 'job'),
      on('show', '0zzzzzz'),
    ])
    expect(name).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no trigger, job or run is named nighty') as unknown,
    })
    expect(job).toMatchObject({ code: 2, stderr: expect.stringContaining('[JOB_UNKNOWN]') as unknown })
    expect(id).toMatchObject({ code: 2, stderr: expect.stringContaining('[RUN_UNKNOWN]') as unknown })
  })
})

describe('rota runs and logs', () => {
  it('filter, and fit 80 columns', async () => {
    const [all, failed, none, since, limited] = await Promise.all([
      printed('runs'),
      printed('runs', '--state', 'failed'),
      printed('runs', '--job', 'nothing'),
      json<unknown[]>('runs', '--since', '1h'),
      json<unknown[]>('runs', '--limit', '1'),
    ])
    expect(all).toMatch(new RegExp(`^${doneId.slice(0, 16)}  done +greet`, 'm'))
    expect(failed.split('\n')).toHaveLength(3)
    expect(failed).toContain('the disk i')
    expect(none).toBe('no run fits; `rota runs` lists all of them\n')
    expect([since.length, limited.length]).toEqual([3, 1])
  })

  it('print what a run wrote, without its control characters', async () => {
    const [text, lines, quiet] = await Promise.all([
      printed('logs', doneId),
      on('logs', doneId.slice(0, 20), '--follow', '--json'),
      on('logs', failedId),
    ])
    expect(text).toMatch(/^\d\d:\d\d:\d\d {2}hello\\x1b\[31m\n$/)
    expect(JSON.parse(lines.stdout)).toMatchObject({
      attempt: 1,
      level: 'info',
      text: expect.any(String) as unknown,
    })
    expect(quiet).toMatchObject({
      code: 0,
      stdout: '',
      stderr: `run ${failedId} is failed and has written nothing\n`,
    })
  })
})

describe('rota why and coverage', () => {
  it('explain a run, an instant that is not due, and one that is to come', async () => {
    const [ran, notDue, future, before, asJson, wrong, unknown] = await Promise.all([
      printed('why', 'welcome', '2026-01-01T00:00'),
      printed('why', 'nightly', '2030-07-01T12:00', '--zone', 'America/New_York'),
      printed('why', 'nightly', '2030-07-01', '--zone', 'America/New_York'),
      printed('why', 'nightly', '2020-07-01'),
      json('why', 'nightly', '-2h'),
      on('why', 'nightly', 'whenever'),
      on('why', 'nobody'),
    ])
    expect(ran).toMatch(/2026-01-01 00:00:00 {2}run 01kdvdna00\w{6}: done in/)
    expect(notDue).toContain('not due then; before: 2030-07-01 02:00:00, after: 2030-07-02 02:00:00')
    expect(future).toContain('2030-07-01 02:00:00  still to come, in ')
    expect(before).toContain('not defined yet then')
    expect(asJson).toMatchObject({
      trigger: 'nightly',
      explanations: [expect.anything()],
      beside: [],
      more: false,
    })
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[LOCAL_TIME_INVALID]') as unknown,
    })
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[TRIGGER_UNKNOWN]') as unknown,
    })
  })

  it('account for every due instant', async () => {
    const [all, one, unknown] = await Promise.all([
      printed('coverage'),
      json('coverage', 'welcome'),
      on('coverage', 'nobody'),
    ])
    expect(all).toMatch(/^TRIGGER +DUE +RUN +EXPLAINED +UNEXPLAINED\n/)
    expect(one).toEqual({
      complete: true,
      triggers: [
        expect.objectContaining({ trigger: 'welcome', due: 1, run: 1, unexplained: [], unexplainedCount: 0 }),
      ],
    })
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[TRIGGER_UNKNOWN]') as unknown,
    })
  })
})

describe('rota doctor', () => {
  it('says what it looked at and what to do', async () => {
    const [text, asJson] = await Promise.all([printed('doctor'), json('doctor', '--deep')])
    expect(text).toMatch(/^ok {5}store .*\n/m)
    expect(text).toContain('→ start one with `rota up`')
    expect(asJson).toMatchObject({ ok: true })
  })

  it('finds a file that is no store', async () => {
    const cwd = emptyDirectory()
    writeFileSync(join(cwd, 'broken.db'), 'this is not a database, not even a small one'.repeat(50))
    const { code, stderr } = await rota(['doctor', '--store', 'sqlite:broken.db'], { cwd })
    expect(code).toBe(3)
    expect(stderr).toContain('[STORE_CORRUPT]')
  })
})

describe('changing runs', () => {
  it('enqueue, cancel and retry move one', async () => {
    const same = await on('enqueue', 'later', '--unique-key', 'k')
    expect(same).toMatchObject({
      code: 0,
      stdout: `${waitingId}\n`,
      stderr: 'it was there already: its unique key is taken\n',
    })
    const options = ['--payload', '-', '--delay', '1h', '--priority', '5', '--group-key', 'g', '--json']
    const { stdout } = await rota(['enqueue', 'later', ...options, '--store', store], { input: '{"a":[1]}' })
    const { id, created } = JSON.parse(stdout) as { id: string; created: boolean }
    expect(created).toBe(true)
    const early = await on('retry', id)
    expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining('[RUN_STATE]') as unknown })
    expect(await printed('cancel', id, '--note', 'wrong')).toBe(`run ${id} is cancelled\n`)
    const again = await on('cancel', id, '--json')
    expect(again.code).toBe(1)
    expect(JSON.parse(again.stderr)).toMatchObject({ error: { code: 'RUN_STATE' } })
    expect(await json('retry', id)).toMatchObject({ state: 'pending', payload: { a: [1] }, priority: 5 })
  })

  it('refuses payloads and times that are none, and unknown jobs', async () => {
    const file = join(emptyDirectory(), 'order.json')
    writeFileSync(file, '{"n":1}')
    const [good, notJson, noFile, both, job, time] = await Promise.all([
      on('enqueue', 'later', '--payload', `@${file}`, '--at', 'tomorrow'),
      on('enqueue', 'later', '--payload', '{a:1}'),
      on('enqueue', 'later', '--payload', '@/nowhere/x.json'),
      on('enqueue', 'later', '--at', 'now', '--delay', '1s'),
      on('enqueue', 'nothing'),
      on('enqueue', 'later', '--delay', '1 fortnight'),
    ])
    expect(good).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\w{36}\n$/) as unknown })
    expect(notJson).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[PAYLOAD_INVALID]') as unknown,
    })
    expect(noFile).toMatchObject({ code: 74, stderr: expect.stringContaining('[ENOENT]') as unknown })
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('not with both') as unknown })
    expect(job).toMatchObject({ code: 2, stderr: expect.stringContaining('[JOB_UNKNOWN]') as unknown })
    expect(time).toMatchObject({ code: 2, stderr: expect.stringContaining('[DURATION_INVALID]') as unknown })
  })

  it('rota run --detach gives an id and does not wait', async () => {
    const [text, asJson, unknown] = await Promise.all([
      on('run', 'later', '--detach'),
      json('run', 'later', '-d'),
      on('run', 'nothing'),
    ])
    expect(text).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\w{36}\n$/) as unknown })
    expect(asJson).toEqual({ id: expect.stringMatching(/^\w{36}$/) as unknown })
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('[JOB_UNKNOWN]') as unknown })
  })
})

describe('holding back', () => {
  it('pauses and resumes a trigger and a queue', async () => {
    expect(await printed('pause', 'nightly', '--note', 'moving', '--until', '2h')).toBe(
      'trigger nightly is paused\n',
    )
    expect(await json('pause', 'nightly')).toEqual({ target: 'trigger:nightly', changed: false })
    expect(await printed('show', 'nightly')).toMatch(/^state +paused by tester since .* moving$/m)
    expect(await printed('list')).toMatch(/nightly .* paused\n/)
    expect(await printed('resume', 'nightly', '--catch-up')).toBe('trigger nightly goes on\n')
    expect(await json('resume', 'nightly')).toEqual({ target: 'trigger:nightly', changed: false })
    expect(await printed('pause', '--queue', 'slow', '--by', 'me')).toBe('queue slow is paused\n')
    expect(await printed('list', '--queues')).toMatch(/slow .* paused\n/)
    expect(await printed('resume', '--queue', 'slow')).toBe('queue slow goes on\n')
  })

  it('freezes and thaws everything, and has kill switches', async () => {
    expect(await printed('freeze', '--note', 'incident')).toContain('everything is frozen')
    expect(await printed('list')).toContain('frozen')
    expect(await json('thaw')).toEqual({ target: 'all', changed: true })
    expect(await printed('switch', 'worker', 'off', '--note', 'full')).toBe('worker is off\n')
    expect(await printed('switch')).toMatch(/^worker +off +\S+ \S+ +tester +full$/m)
    expect(await json('switch', 'worker', 'on')).toEqual({
      target: 'switch:worker',
      state: 'on',
      changed: true,
    })
  })

  it('refuses targets that are not there, and holds that are over', async () => {
    const [nothing, both, trigger, queue, past, name, state] = await Promise.all([
      on('pause'),
      on('resume', 'nightly', '--queue', 'slow'),
      on('pause', 'nobody'),
      on('pause', '--queue', 'nobody'),
      on('freeze', '--until', '-1h'),
      on('switch', 'engine', 'off'),
      on('switch', 'worker'),
    ])
    for (const { code } of [nothing, both, trigger, queue, past, name, state]) expect(code).toBe(2)
    expect(nothing.stderr).toContain('name either a trigger or a queue')
    expect(both.stderr).toContain('cannot be together')
    expect(trigger.stderr).toContain('[TRIGGER_UNKNOWN]')
    expect(queue.stderr).toContain('no queue is named nobody')
    expect(past.stderr).toContain('not in the future')
    expect(name.stderr).toContain('(allowed: pipeline, scheduler, worker)')
    expect(state.stderr).toContain('(allowed: on, off)')
  })
})

describe('rota add and remove', () => {
  it('define and end jobs and triggers beside those of an app', async () => {
    const command = ['--', 'node', '-e', 'console.log("$HOME")']
    const options = [
      '--cron',
      '0 3 * * *',
      '--zone',
      'Europe/Berlin',
      '--retry',
      '3',
      '--env',
      'TOKEN=secret',
      '--catch-up',
      'all',
    ]
    expect(await printed('add', 'report', ...options, ...command)).toContain(
      'added job report and trigger report;',
    )
    expect(await printed('add', 'weekly', '--every', '1w', '--job', 'report')).toContain(
      'added trigger weekly;',
    )
    const shown = await json('show', 'report')
    expect(shown).toMatchObject({
      trigger: { source: 'api', overlap: 'queue-all', schedule: { timezone: 'Europe/Berlin' } },
      job: {
        handler: { kind: 'shell', argv: ['node', '-e', 'console.log("$HOME")'], env: ['TOKEN'] },
        retry: { attempts: 3 },
      },
    })
    expect(JSON.stringify(shown)).not.toContain('secret')
    const taken = await on('add', 'report', ...command)
    expect(taken).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[DEFINITION_CONFLICT]') as unknown,
    })
    expect(await printed('add', 'report', '--replace', '--timeout', '5s', ...command)).toContain(
      'added job report;',
    )
    expect(await printed('remove', 'weekly')).toBe('trigger weekly is removed\n')
    expect(await printed('remove', 'report')).toContain('its job stays')
    expect(await json('remove', 'report')).toEqual({ kind: 'job', name: 'report' })
  })

  it('refuse what cannot be, all at once', async () => {
    const [nothing, stray, both, wrong, foreign, unknown, noJob] = await Promise.all([
      on('add', 'x'),
      on('add', 'x', '--retry', '3', '--overlap', 'skip'),
      on('add', 'x', '--cron', '* * * * *', '--job', 'greet', '--', 'ls'),
      on('add', 'x y', '--cron', '61 * * * *', '--url', 'ftp://x', '--timeout', '5 parsecs'),
      on('remove', 'nightly'),
      on('remove', 'nobody'),
      on('add', 'x', '--every', '1m', '--job', 'nothing'),
    ])
    for (const { code } of [nothing, stray, both, wrong, foreign, unknown, noJob]) expect(code).toBe(2)
    expect(nothing.stderr).toContain('nothing says what it does or when')
    expect(stray.stderr).toContain('--retry: it means nothing without -- command or --url')
    expect(both.stderr).toContain('--job: it cannot be together')
    expect(wrong.stderr).toMatch(/\[DEFINITION_INVALID\]\n( {2}.+\n){2,}$/)
    expect(foreign.stderr).toContain('is defined by config:shop')
    expect(unknown.stderr).toContain('[TRIGGER_UNKNOWN]')
    expect(noJob.stderr).toContain('[JOB_UNKNOWN]')
  })
})
