import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../../src/app/rota.js'
import { emptyDirectory, rota } from './rota.js'
import { openShop, type Shop } from './shop.js'

let shop: Shop

beforeAll(async () => {
  shop = await openShop()
})

it('backfill plans past due times, and says how to run those before the trigger was defined', async () => {
  const days = ['--from', '2026-01-01T00:00Z', '--to', '2026-01-03T00:00Z', '--zone', 'UTC']
  expect(await shop.printed('backfill', 'nightly', ...days)).toBe(
    [
      'would run 0 instants of nightly',
      'skips 2026-01-01 00:00:00 +00:00 to 2026-01-03 00:00:00 +00:00:',
      '  the trigger was not defined then',
      '`--definition current` also runs what was due before the trigger was defined',
      'nothing to do',
      '',
    ].join('\n'),
  )
  const planned = await shop.printed('backfill', 'nightly', ...days, '--definition', 'current')
  expect(planned.split('\n')).toEqual([
    'would run 2 instants of nightly:',
    '  2026-01-01 07:00:00 +00:00',
    '  2026-01-02 07:00:00 +00:00',
    expect.stringMatching(/^nothing was started; `rota backfill --start bf-\w+` starts it$/),
    '',
  ])
})

describe('changing runs', () => {
  it('enqueue, cancel and retry change one run', async () => {
    const same = await shop.on('enqueue', 'later', '--unique-key', 'k')
    expect(same).toMatchObject({
      code: 0,
      stdout: `${shop.waitingId}\n`,
      stderr: 'this run already exists: its unique key is taken\n',
    })
    const options = ['--payload', '-', '--delay', '1h', '--priority', '5', '--concurrency-key', 'g', '--json']
    const { stdout } = await rota(['enqueue', 'later', ...options, '--store', shop.store], {
      input: '{"a":[1]}',
    })
    const { id, created } = JSON.parse(stdout) as { id: string; created: boolean }
    expect(created).toBe(true)
    const early = await shop.on('retry', id)
    expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining('[RUN_STATE]') as unknown })
    expect(await shop.printed('cancel', id, '--reason', 'wrong')).toBe(`cancelled run ${id}\n`)
    const again = await shop.on('cancel', id, '--json')
    expect(again.code).toBe(1)
    expect(JSON.parse(again.stderr)).toMatchObject({ error: { code: 'RUN_STATE' } })
    expect(await shop.json('retry', id)).toMatchObject({ state: 'pending', payload: { a: [1] }, priority: 5 })
  })

  it('refuses invalid payloads and times, and unknown jobs', async () => {
    const file = join(emptyDirectory(), 'order.json')
    writeFileSync(file, '{"n":1}')
    const [good, notJson, noFile, both, job, time] = await Promise.all([
      shop.on('enqueue', 'later', '--payload', `@${file}`, '--at', 'tomorrow'),
      shop.on('enqueue', 'later', '--payload', '{a:1}'),
      shop.on('enqueue', 'later', '--payload', '@/nowhere/x.json'),
      shop.on('enqueue', 'later', '--at', 'now', '--delay', '1s'),
      shop.on('enqueue', 'nothing'),
      shop.on('enqueue', 'later', '--delay', '1 fortnight'),
    ])
    expect(good).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\w{36}\n$/) as unknown })
    expect(notJson).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[PAYLOAD_INVALID]') as unknown,
    })
    expect(noFile).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no such file') as unknown,
    })
    expect(both).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--delay: it contradicts `at`') as unknown,
    })
    expect(job).toMatchObject({ code: 2, stderr: expect.stringContaining('[JOB_UNKNOWN]') as unknown })
    expect(time).toMatchObject({ code: 2, stderr: expect.stringContaining('1 fortnight') as unknown })
  })

  it('rota run --detach prints an id and does not wait', async () => {
    const [text, asJson, unknown] = await Promise.all([
      shop.on('run', 'later', '--detach'),
      shop.json('run', 'later', '-d'),
      shop.on('run', 'nothing'),
    ])
    expect(text).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\w{36}\n$/) as unknown })
    expect(asJson).toEqual({ id: expect.stringMatching(/^\w{36}$/) as unknown })
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('[JOB_UNKNOWN]') as unknown })
  })
})

describe('holding back', () => {
  it('pauses and resumes a trigger and a queue', async () => {
    expect(await shop.printed('pause', 'nightly', '--reason', 'moving', '--until', '2h')).toBe(
      'paused trigger nightly\n',
    )
    expect(await shop.json('pause', 'nightly')).toEqual({ target: 'trigger:nightly', changed: false })
    expect(await shop.printed('show', 'nightly')).toMatch(/^state +paused by tester since .* moving$/m)
    expect(await shop.printed('list')).toMatch(/nightly .* paused\n/)
    expect(await shop.printed('resume', 'nightly', '--catch-up')).toBe('resumed trigger nightly\n')
    expect(await shop.json('resume', 'nightly')).toEqual({ target: 'trigger:nightly', changed: false })
    expect(await shop.printed('pause', '--queue', 'slow', '--by', 'me')).toBe('paused queue slow\n')
    expect(await shop.printed('list', '--queues')).toMatch(/slow .* paused\n/)
    expect(await shop.printed('resume', '--queue', 'slow')).toBe('resumed queue slow\n')
  })

  it('shows who did it, and why', async () => {
    await shop.printed('pause', '--queue', 'slow', '--by', 'me', '--reason', 'full disk')
    await shop.printed('resume', '--queue', 'slow', '--reason', 'disk is free')
    const listed = await shop.printed('history', 'slow', '--limit', '2')
    expect(listed).toMatch(
      /tester +cli +queue.resume +queue:slow +disk is free\n.* me +cli +queue.pause .*full disk/s,
    )
    const [first] = (await shop.json('history', 'slow', '--action', 'queue.pause')) as unknown[]
    expect(first).toMatchObject({ before: null, after: { by: 'me', reason: 'full disk' } })
    expect(await shop.printed('history', '--actor', 'nobody')).toContain('no such change')
  })

  it('freezes and thaws everything, and has kill switches', async () => {
    expect(await shop.printed('freeze', '--reason', 'incident')).toContain('froze everything')
    expect(await shop.printed('list')).toContain('frozen')
    expect(await shop.json('thaw')).toEqual({ target: 'all', changed: true })
    expect(await shop.printed('switch', 'worker', 'off', '--reason', 'full')).toBe('switched worker off\n')
    expect(await shop.printed('switch')).toMatch(/^worker +off +\S+ \S+ +tester +full$/m)
    expect(await shop.json('switch', 'worker', 'on')).toEqual({
      target: 'switch:worker',
      state: 'on',
      changed: true,
    })
  })

  it('refuses unknown targets, and holds that end in the past', async () => {
    const [nothing, both, trigger, queue, past, name, state] = await Promise.all([
      shop.on('pause'),
      shop.on('resume', 'nightly', '--queue', 'slow'),
      shop.on('pause', 'nobody'),
      shop.on('pause', '--queue', 'nobody'),
      shop.on('freeze', '--until', '-1h'),
      shop.on('switch', 'engine', 'off'),
      shop.on('switch', 'worker'),
    ])
    for (const { code } of [nothing, both, trigger, queue, past, name, state]) expect(code).toBe(2)
    expect(nothing.stderr).toContain('name a trigger, or a queue')
    expect(both.stderr).toContain('cannot be combined')
    expect(trigger.stderr).toContain('[TRIGGER_UNKNOWN]')
    expect(queue.stderr).toContain('no queue is named nobody')
    expect(past.stderr).toContain('not in the future')
    expect(name.stderr).toContain('(allowed: pipeline, scheduler, worker)')
    expect(state.stderr).toContain('(allowed: on, off)')
  })
})

describe('a secret of rota add', () => {
  it('must be a reference: literal text is refused with the right form, unless an option allows it', async () => {
    const url = ['--url', 'https://example.org/hook']
    const literal = await shop.on('add', 'hook', ...url, '--header', 'Authorization=Bearer abc')
    expect(literal).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--secret Authorization=env:NAME') as unknown,
    })
    expect(literal.stderr).not.toContain('abc')
    const address = await shop.on(
      'add',
      'dump',
      '--env',
      'DATABASE_URL=postgres://me:abc@db/shop',
      '--',
      'true',
    )
    expect(address).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--secret DATABASE_URL=env:') as unknown,
    })
    expect(address.stderr).not.toContain('abc')
    const nowhere = await shop.on('add', 'hook', ...url, '--secret', 'authorization=abc')
    expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('--secret') as unknown })
    await shop.printed('add', 'hook', ...url, '--secret', 'authorization=Bearer env:HOOK_TOKEN')
    expect(await shop.printed('show', 'hook')).toContain('authorization (variable HOOK_TOKEN)')
    const both = ['--header', 'x-api-key=abc', '--allow-literal-secrets', '--replace']
    expect(await shop.printed('add', 'hook', ...url, ...both)).toContain('added job hook')
    await shop.printed('remove', 'hook')
  })
})

describe('rota add and remove', () => {
  it('define and end jobs and triggers in addition to those of an app', async () => {
    const command = ['--', 'node', '-e', 'console.log("$HOME")']
    const options = [
      '--cron',
      '0 3 * * *',
      '--zone',
      'Europe/Berlin',
      '--retry',
      '3',
      '--env',
      'MODE=secret',
      '--secret',
      'TOKEN=env:SHOP_TOKEN',
      '--catch-up',
      'all',
    ]
    expect(await shop.printed('add', 'report', ...options, ...command)).toContain(
      'added job report and trigger report;',
    )
    expect(await shop.printed('add', 'weekly', '--every', '1w', '--job', 'report')).toContain(
      'added trigger weekly;',
    )
    const shown = await shop.json('show', 'report')
    expect(shown).toMatchObject({
      trigger: { source: 'api', overlap: 'queue-all', schedule: { timezone: 'Europe/Berlin' } },
      job: {
        handler: { kind: 'shell', argv: ['node', '-e', 'console.log("$HOME")'], env: ['MODE', 'TOKEN'] },
        retry: { attempts: 3 },
      },
    })
    expect(JSON.stringify(shown)).not.toContain('secret')
    expect(await shop.printed('show', 'report', '--as', 'job')).toContain('MODE, TOKEN (variable SHOP_TOKEN)')
    const taken = await shop.on('add', 'report', ...command)
    expect(taken).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('[DEFINITION_CONFLICT]') as unknown,
    })
    expect(await shop.printed('add', 'report', '--replace', '--timeout', '5s', ...command)).toContain(
      'added job report;',
    )
    expect(await shop.printed('remove', 'weekly')).toBe('removed trigger weekly\n')
    expect(await shop.printed('remove', 'report')).toContain('its job stays')
    expect(await shop.json('remove', 'report')).toEqual({ kind: 'job', name: 'report' })
  })

  it('take over and delete jobs that their program no longer defines', async () => {
    const one = await openShop()
    const run = async (jobs: readonly string[]): Promise<void> => {
      const app = createApp({ store: one.store }, 'config:other')
      for (const job of jobs) app.job(job, { command: ['true'] })
      await app.start({ roles: { worker: false } })
      await app.stop()
    }
    await run(['mail', 'old'])
    expect((await one.on('add', 'mail', '--', 'true')).stderr).toContain('already defined: job mail')
    await run([])
    expect(await one.printed('list', '--jobs')).not.toContain('config:other')
    expect(await one.printed('list', '--jobs', '--all')).toContain('config:other (ended)')
    expect(await one.printed('show', 'mail')).toContain('config:other, which no longer defines it')
    expect(await one.printed('add', 'mail', '--', 'true')).toContain('added job mail')
    expect(await one.printed('remove', 'old')).toBe('removed job old\n')
    const jobs = await one.json<{ name: string; source: string; active: boolean }[]>(
      'list',
      '--jobs',
      '--all',
    )
    expect(jobs.filter(({ name }) => ['mail', 'old'].includes(name))).toMatchObject([
      { name: 'mail', source: 'api', active: true },
    ])
  })

  it('create no store if they are refused, and need a store', async () => {
    const cwd = emptyDirectory()
    const refused = [
      ['add', 'x', '--every', '1h', '--job', 'nobody'],
      ['add', 'x', '--every', 'often', '--', 'true'],
      ['add', 'x'],
    ]
    for (const [index, line] of refused.entries()) {
      const store = index % 2 === 0 ? 'sqlite:data/rota.db' : 'files:queue'
      const { code, stdout } = await rota([...line.slice(0, 2), '--store', store, ...line.slice(2)], { cwd })
      expect({ line, code, stdout }).toEqual({ line, code: 2, stdout: '' })
    }
    for (const line of [['add', 'x', '--every', '1h', '--', 'true'], ['freeze']]) {
      const ended = await rota(line, { cwd, env: { ROTA_STORE: 'memory:' } })
      expect(ended).toMatchObject({ code: 3, stdout: '' })
      expect(ended.stderr).toContain('a command cannot use the store memory:')
    }
    expect(readdirSync(cwd)).toEqual([])
  })

  it('report all faults together', async () => {
    const [nothing, stray, both, wrong, foreign, unknown, noJob] = await Promise.all([
      shop.on('add', 'x'),
      shop.on('add', 'x', '--retry', '3', '--overlap', 'skip'),
      shop.on('add', 'x', '--cron', '* * * * *', '--job', 'greet', '--', 'ls'),
      shop.on('add', 'x y', '--cron', '61 * * * *', '--url', 'ftp://x', '--timeout', '5 parsecs'),
      shop.on('remove', 'nightly'),
      shop.on('remove', 'nobody'),
      shop.on('add', 'x', '--every', '1m', '--job', 'nothing'),
    ])
    for (const { code } of [nothing, stray, both, wrong, foreign, unknown, noJob]) expect(code).toBe(2)
    expect(nothing.stderr).toContain('neither a command nor a schedule is given')
    expect(stray.stderr).toContain('--retry: needs -- command or --url')
    expect(both.stderr).toContain('--job: cannot be combined')
    expect(wrong.stderr).toMatch(/\[DEFINITION_INVALID\]\n( {2}.+\n){2,}$/)
    expect(foreign.stderr).toContain('is defined by config:shop')
    expect(unknown.stderr).toContain('[TRIGGER_UNKNOWN]')
    expect(noJob.stderr).toContain('[JOB_UNKNOWN]')
  })
})
