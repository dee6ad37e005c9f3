import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../src/app/rota.js'
import { program } from '../../src/cli/commands.js'
import { FakeClock } from '../../src/testing/fake-clock.js'
import { emptyDirectory, rota, tooWide, type Ended } from './rota.js'
import { openShop, type Shop } from './shop.js'

let shop: Shop

beforeAll(async () => {
  shop = await openShop()
})

describe('a missing store', () => {
  /** The commands that use the store of a config and do not create it. */
  const readingCommands = async (): Promise<string[]> => {
    const all = await Promise.all(Object.values(await program.commands()).map(({ load }) => load()))
    const needing = all.filter(({ options = [] }) =>
      ['store', 'config'].every((name) => options.some((option) => option.name === name)),
    )
    return needing.map(({ name }) => name).filter((name) => !['up', 'add', 'import', 'plan'].includes(name))
  }
  const words: Record<string, string[]> = {
    show: ['x'],
    next: ['x'],
    round: ['list'],
    job: ['list'],
    sensor: ['list'],
    asset: ['list'],
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

  it('is not created by a command that needs one, which says so', async () => {
    const cwd = emptyDirectory()
    const reading = await readingCommands()
    expect(reading.length).toBeGreaterThan(10)
    const ended = await Promise.all(reading.map((name) => rota([name, ...(words[name] ?? [])], { cwd })))
    for (const [index, { code, stdout, stderr }] of ended.entries()) {
      expect({ name: reading[index], code, stdout }).toEqual({ name: reading[index], code: 3, stdout: '' })
      expect(stderr).toContain(
        'data/rota.db does not exist yet; `rota up` creates it, --store names another [STORE_NOT_FOUND]',
      )
    }
    expect(existsSync(join(cwd, 'data'))).toBe(false)
  }, 60_000)

  it('or a file that is not a store is refused', async () => {
    const { code, stderr } = await rota(['runs', '--store', 'mysql://x'])
    expect(code).toBe(3)
    expect(stderr).toContain('[STORE_URL]')
  })

  it('is named by the environment, or by the config of the directory', async () => {
    const cwd = emptyDirectory()
    writeFileSync(join(cwd, 'rota.config.json'), JSON.stringify({ store: shop.store }))
    const [environment, config, broken] = await Promise.all([
      rota(['list', '--names'], { env: { ROTA_STORE: shop.store } }),
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
  it('show the last run of each trigger, and how many failed within a day', async () => {
    const directory = emptyDirectory()
    const one = createApp({ store: 'sqlite:rota.db', directory }, 'config:one')
    one.job('good', { command: ['true'] })
    one.job('bad', { command: ['false'] })
    for (const [name, job] of [
      ['fine', 'good'],
      ['poor', 'bad'],
      ['idle', 'good'],
    ] as const) {
      one.schedule(name, { job, every: '1h' })
    }
    one.schedule('overdue', { job: 'good', at: '2026-01-01T00:00:00Z' })
    await one.start()
    const runs = [
      await one.triggers.runNow('poor'),
      await one.triggers.runNow('poor'),
      await one.triggers.runNow('fine'),
    ]
    await Promise.all(runs.map(({ id }) => one.runs.wait(id)))
    await expect.poll(() => one.runs.list({ trigger: 'overdue', state: 'done' })).toHaveLength(1)
    await one.stop()
    const at = ['--store', `sqlite:${join(directory, 'rota.db')}`]
    const { stdout } = await rota(['list', ...at])
    expect(stdout).toMatch(/^TRIGGER .* LAST RUN +FAILED +STATE\n/)
    expect(stdout).toMatch(/^fine .* done \d+s +on$/m)
    expect(stdout).toMatch(/^poor .* failed \d+s +2 in 24h +on$/m)
    // It was due long ago, and performed just now.
    expect(stdout).toMatch(/^overdue .* done \d+s +over$/m)
    const listed = JSON.parse((await rota(['list', '--json', ...at])).stdout) as unknown
    expect(listed).toMatchObject([
      { name: 'fine', lastRun: { id: runs[2]?.id, state: 'done' }, failedIn24h: 0 },
      { name: 'idle', lastRun: null, failedIn24h: 0 },
      { name: 'overdue', lastRun: { state: 'done' } },
      { name: 'poor', lastRun: { state: 'failed' }, failedIn24h: 2 },
    ])
  })

  it('print tables that fit', async () => {
    const [triggers, jobs, queues, trigger, job, run] = await Promise.all([
      shop.printed('list'),
      shop.printed('list', '--jobs'),
      shop.printed('list', '--queues'),
      shop.printed('show', 'nightly'),
      shop.printed('show', 'later'),
      shop.on('show', shop.failedId.slice(0, 16)),
    ])
    expect(triggers).toMatch(/^TRIGGER .*NEXT \(UTC\).*STATE\n/)
    expect(triggers).toMatch(/nightly +greet +0 2 \* \* \* America/)
    expect(triggers).toMatch(/welcome .* over\n/)
    expect(jobs).toMatch(/later +node -e '' +slow +1 +config:shop/)
    expect(queues).toMatch(/default +none +0 +0 +on\n/)
    expect(trigger).toMatch(/^when +0 2 \* \* \* America\/New_York$/m)
    expect(job).toMatch(/^triggers +none; /m)
    expect(run.stdout).toContain(shop.failedId)
    expect(run.stdout).toMatch(/^error +the disk is made of cheese/m)
  })

  it('print JSON with instants as texts', async () => {
    const [triggers, jobs, queues, trigger, run] = await Promise.all([
      shop.json<Record<string, unknown>[]>('list'),
      shop.json<unknown[]>('list', '--jobs'),
      shop.json<unknown[]>('list', '--queues'),
      shop.json('show', 'nightly'),
      shop.json('show', shop.doneId),
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
    expect(queues).toContainEqual({
      name: 'default',
      concurrency: null,
      limit: null,
      paused: false,
      ready: 0,
      running: 0,
    })
    expect(trigger).toMatchObject({ kind: 'trigger', job: { name: 'greet' }, hold: null })
    expect(run).toMatchObject({
      kind: 'run',
      run: {
        id: shop.doneId,
        state: 'done',
        payload: { name: 'world' },
        result: { greeted: true },
        error: null,
      },
      attempts: [{ attempt: 1, end: 'done' }],
    })
  })

  it('report unknown names', async () => {
    const [name, job, id] = await Promise.all([
      shop.on('show', 'nighty'),
      shop.on('show', 'nightly', '--as', 'job'),
      shop.on('show', '0zzzzzz'),
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
      shop.printed('runs'),
      shop.printed('runs', '--state', 'failed'),
      shop.printed('runs', '--job', 'later', '--state', 'done'),
      shop.json<unknown[]>('runs', '--since', '1h'),
      shop.json<unknown[]>('runs', '--limit', '1'),
    ])
    expect(all).toMatch(new RegExp(`^${shop.doneId.slice(0, 16)}  done +greet`, 'm'))
    expect(failed.split('\n')).toHaveLength(3)
    expect(failed).toContain('the disk i')
    expect(none).toBe('no run matches; `rota runs` lists all of them\n')
    expect([since.length, limited.length]).toEqual([2, 1])
  })

  it('print partition and age, and unambiguous ids', async () => {
    const cwd = emptyDirectory()
    const app = createApp({ store: 'sqlite:rota.db', directory: cwd }, 'api')
    await app.jobs.add({ ping: { command: ['true'] } })
    const payloads = Array.from({ length: 20 }, () => null)
    await app.enqueueMany('ping', payloads, { partition: '2026-01-10', at: new Date(Date.UTC(2026, 0, 1)) })
    // As earlier releases recorded them: they differ only in the last characters.
    const store = await app.store()
    const stem = '01kdvdna00'.padEnd(34, '7')
    const run = { job: 'ping', origin: 'enqueue' as const, priority: 0, slots: [] }
    const at = { dueAt: Date.UTC(2026, 0, 1), runAt: Date.UTC(2026, 0, 1) }
    const older = ['0a', '0b'].map((end) => ({ ...run, ...at, id: `${stem}${end}` }))
    await store.enqueue({ runs: older, now: Date.now() })
    await app.close()
    const { stdout } = await rota(['runs', '--limit', '22', '--store', 'sqlite:rota.db'], { cwd })
    const [title, ...lines] = stdout.trimEnd().split('\n')
    expect(title).toMatch(/^RUN +STATE +OF +PARTITION .*AGE/)
    expect(lines.find((line) => line.includes('2026-01-10'))).toMatch(/ 2026-01-10 .* \d+d /)
    expect(tooWide(stdout)).toEqual([])
    const shown = lines.map((line) => line.replace(/ .*/, ''))
    const found = await Promise.all(
      shown.slice(0, 4).map((id) => rota(['show', id, '--store', 'sqlite:rota.db', '--json'], { cwd })),
    )
    expect(found.map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(new Set(shown).size).toBe(22)
  })

  it('print the output of a run, without control characters', async () => {
    const [text, lines, quiet] = await Promise.all([
      shop.printed('logs', shop.doneId),
      shop.on('logs', shop.doneId.slice(0, 20), '--follow', '--json'),
      shop.on('logs', shop.failedId),
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
      stderr: `run ${shop.failedId} is failed and has no log lines\n`,
    })
  })
})

describe('rota why and coverage', () => {
  it('explain a run, a time that is not due, and a future due time', async () => {
    const [ran, notDue, future, before, asJson, wrong, unknown] = await Promise.all([
      shop.printed('why', 'welcome', '2026-01-01T00:00'),
      shop.printed('why', 'nightly', '2030-07-01T12:00', '--zone', 'America/New_York'),
      shop.printed('why', 'nightly', '2030-07-01', '--zone', 'America/New_York'),
      shop.printed('why', 'nightly', '2020-07-01'),
      shop.json('why', 'nightly', '-2h'),
      shop.on('why', 'nightly', 'whenever'),
      shop.on('why', 'nobody'),
    ])
    expect(ran).toMatch(/2026-01-01 00:00:00 {2}run 01kdvdna00\w{6}: done in/)
    expect(notDue).toContain('not due then; before: 2030-07-01 02:00:00, after: 2030-07-02 02:00:00')
    expect(future).toContain('2030-07-01 02:00:00  in the future, in ')
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

  it('show the newest of many, how many are earlier, and the command that shows them', async () => {
    const cwd = emptyDirectory()
    const clock = new FakeClock(Date.UTC(2026, 0, 5))
    const app = createApp({ store: 'sqlite:rota.db', directory: cwd, clock }, 'api')
    await app.triggers.add(
      { minutely: { cron: '* * * * *', job: 'ping' } },
      { jobs: { ping: { command: ['true'] } } },
    )
    await app.close()
    const why = (stretch: string): Promise<Ended> =>
      rota(['why', 'minutely', stretch, '--store', 'sqlite:rota.db'], { cwd })
    const { stdout } = await why('2026-01-05T00:00..2026-01-05T05:00')
    const lines = stdout.trimEnd().split('\n')
    expect(lines.slice(1, 3)).toEqual([
      '  … 100 earlier; the newest of them:',
      '    rota why minutely 2026-01-05T00:00:00Z..2026-01-05T01:41:00Z',
    ])
    expect(lines).toHaveLength(204)
    expect(lines[3]).toContain('2026-01-05 01:41:00  due, and not planned yet')
    expect(lines.at(-2)).toContain('2026-01-05 05:00:00  due, and not planned yet: nothing is running')
    expect(lines.at(-1)).toContain('`rota up` starts an engine')
    expect(tooWide(stdout)).toEqual([])
    expect((await why('2026-01-05T00:00:00Z..2026-01-05T01:41:00Z')).stdout).not.toContain('earlier')
  })

  it('explain a run and a job: how they ended, or what they wait for', async () => {
    const [done, failed, waiting, job, pending, asJson] = await Promise.all([
      shop.printed('why', shop.doneId),
      shop.printed('why', shop.failedId.slice(0, 16)),
      shop.printed('why', shop.waitingId),
      shop.printed('why', 'broken'),
      shop.printed('show', shop.waitingId),
      shop.json('why', 'later'),
    ])
    expect(done).toMatch(/^run \w{36}\n {2}of greet, due .*\n {2}done in/)
    expect(failed).toMatch(/\n {2}failed in \S+ \(the disk is made of cheese/)
    expect(waiting).toMatch(/\n {2}pending\n {2}due later: /)
    expect(job).toMatch(new RegExp(`^broken .*\\n.* run ${shop.failedId.slice(0, 16)}: failed`))
    expect(pending).toMatch(/^waits because +due later: /m)
    expect(asJson).toMatchObject({
      kind: 'job',
      runs: [{ id: shop.waitingId, pending: [{ kind: 'due-later' }] }],
    })
  })

  it('account for every due time', async () => {
    const [all, one, unknown] = await Promise.all([
      shop.printed('coverage'),
      shop.json('coverage', 'welcome'),
      shop.on('coverage', 'nobody'),
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
  it('prints what it checked and what to do', async () => {
    const [text, asJson] = await Promise.all([shop.printed('doctor'), shop.json('doctor', '--deep')])
    expect(text).toMatch(/^ok {5}store .*\n/m)
    expect(text).toContain('→ start one with `rota up`')
    expect(asJson).toMatchObject({ ok: true })
  })

  it('reports a file that is not a store', async () => {
    const cwd = emptyDirectory()
    writeFileSync(join(cwd, 'broken.db'), 'this is not a database, not even a small one'.repeat(50))
    const { code, stderr } = await rota(['doctor', '--store', 'sqlite:broken.db'], { cwd })
    expect(code).toBe(3)
    expect(stderr).toContain('[STORE_CORRUPT]')
  })
})
