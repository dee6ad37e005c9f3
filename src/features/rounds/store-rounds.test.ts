import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hour, ten, Theatre } from './test/theatre.js'

describe('a round of an app', () => {
  it('R12: shows services, interval, current and remaining services, results, skips and the next check', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('s1', 's2', 's3', 'daily')
    app.rounds.define('my_scheduler', {
      every: '1h',
      services: ['s1', { job: 's2' }, { name: 's3' }, { job: 'daily', every: '23h' }],
    })
    await app.start()
    await stage.pass(0)
    for (const name of ['s1', 's2', 's3', 'daily']) await stage.end(name)
    await stage.pass(hour)
    await stage.end('s1')
    await stage.end('s2', new Error('exit 1'))
    expect(await app.rounds.status('my_scheduler')).toEqual({
      name: 'my_scheduler',
      intervalMs: hour,
      services: ['s1', 's2', 's3', 'daily'],
      checkedAt: new Date(ten + hour),
      resumed: false,
      currentService: 's3',
      remainingServices: [],
      completedCount: 2,
      results: [
        { service: 's1', status: 'ok', info: 'success' },
        { service: 's2', status: 'error', info: 'exit 1' },
      ],
      skipped: [{ service: 'daily', reason: 'not_due', dueAt: new Date(ten + 23 * hour) }],
      nextCheckAt: new Date(ten + 2 * hour),
    })
  })

  it('R12: shows the result of the last check when its cycle is over', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('a', 'daily')
    app.rounds.define('r', { every: '1h', services: [{ job: 'daily', every: '24h' }, 'a'] })
    await app.start()
    await stage.pass(0)
    for (const name of ['daily', 'a']) await stage.end(name)
    await stage.pass(hour)
    await stage.end('a', new Error('exit 1'))
    expect(await app.rounds.state()).toEqual([])
    expect(await app.rounds.status('r')).toMatchObject({
      checkedAt: new Date(ten + hour),
      currentService: null,
      completedCount: 1,
      results: [{ service: 'a', status: 'error', info: 'exit 1' }],
      skipped: [{ service: 'daily', reason: 'not_due', dueAt: new Date(ten + 24 * hour) }],
      nextCheckAt: new Date(ten + 2 * hour),
    })
  })

  it('R1: is started at run time by name, interval and list, replaced, stopped, and started again by its name only', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('a', 'b', 'c')
    await app.start()
    await app.rounds.start('r', { every: hour, services: ['a', 'b'] })
    await stage.pass(1)
    expect(stage.begun).toEqual(['a'])
    expect(await app.rounds.state('r')).toMatchObject([
      { name: 'r', currentService: 'a', servicesQueue: ['b'] },
    ])
    await app.rounds.start('r', { services: ['c'] })
    await stage.end('a')
    expect(stage.begun).toEqual(['a', 'c'])
    await app.rounds.start('r', { services: ['c', 'b'] })
    await stage.pass(1)
    await stage.end('c')
    expect(stage.begun).toEqual(['a', 'c', 'b'])
    await app.rounds.stop('r')
    await app.rounds.stop('r')
    expect(await app.rounds.status('r')).toMatchObject({ currentService: 'b', nextCheckAt: null })
    await stage.end('b')
    await stage.pass(3 * hour)
    expect(stage.begun).toHaveLength(3)
    await app.rounds.start('r')
    await stage.pass(1)
    expect(stage.begun).toEqual(['a', 'c', 'b', 'c'])
    await app.rounds.start('r')
    expect((await app.triggers.list())[0]).toMatchObject({ source: 'api', active: true })
  })

  it('refuses duplicate and unknown services, all named together', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('a')
    expect(() => app.rounds.define('r', { every: '1h', services: ['a', 'b', 'a', 'b'] })).toThrow(
      'more than once: a, b',
    )
    expect(() => app.rounds.define('r', { every: '1ms', services: [] })).toThrow(
      /too short[^]*the list is empty/,
    )
    app.rounds.define('r', { every: '1h', services: ['a', 'x', 'y'] })
    await expect(app.start()).rejects.toThrow(/no job is named x[^]*no job is named y/)
  })

  it('refuses unknown services and other intervals at run time, and changes nothing', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('a', 'b')
    await app.start()
    const unknown = app.rounds.start('r', { every: '1h', services: ['a', 'x', 'y'] })
    await expect(unknown).rejects.toThrow('names services that are not jobs: x, y')
    await app.rounds.start('one', { every: '1h', services: ['a', 'b'] })
    const other = app.rounds.start('two', { every: '2h', services: ['a', 'b'] })
    await expect(other).rejects.toThrow('a every 2h in two, every 1h in one; b every 2h in two')
    await expect(app.rounds.start('three')).rejects.toThrow('no round is named three')
    await expect(app.rounds.status('three')).rejects.toThrow('no round is named three')
    expect((await app.triggers.list()).map(({ trigger }) => trigger.name)).toEqual(['one'])
  })

  it('reports duplicate and unknown services of one list together', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('crawl')
    await app.start()
    const both = app.rounds.start('r', { every: '1h', services: ['crawl', 'crwal', 'crawl', { job: 'x' }] })
    await expect(both).rejects.toThrow(
      /more than once: crawl[^]*no jobs of that name: crwal, x; did you mean crawl\?/,
    )
    expect(await app.triggers.list()).toEqual([])
  })

  it('warns about a service that is due more often than its round checks', async () => {
    const stage = new Theatre()
    const { app } = stage
    const told: unknown[] = []
    app.on('operation', ({ operation, target, outcome, details }) => {
      if (outcome === 'warning') told.push([operation, target, details])
    })
    stage.services('a', 'b')
    app.rounds.define('code', { every: '2h', services: [{ job: 'a', every: '1h' }] })
    await app.start()
    await app.rounds.start('api', { every: '3h', services: [{ job: 'b', every: '1h' }] })
    expect(told).toEqual([
      [
        'define round',
        'code',
        { message: 'a every 1h in a round that checks every 2h: it runs at its checks only' },
      ],
      [
        'define round',
        'api',
        { message: 'b every 1h in a round that checks every 3h: it runs at its checks only' },
      ],
    ])
  })

  it('can be stopped only if it was started at run time', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('a')
    app.rounds.define('r', { every: '1h', services: ['a'] })
    await app.start()
    await expect(app.rounds.stop('r')).rejects.toThrow('round r is defined by code:rota; `rota pause r`')
    await expect(app.rounds.start('r', { every: '2h' })).rejects.toThrow('code:rota')
  })
})

describe('the timing of services', () => {
  it('R3: is kept forever, in Unix seconds, even if no round uses the service and its runs are pruned', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('crawler_service', 'other')
    await app.start()
    await app.rounds.start('r', {
      every: '1h',
      services: [{ job: 'crawler_service', every: '24h' }, 'other'],
    })
    await stage.pass(1)
    await stage.end('crawler_service')
    await stage.end('other')
    await app.rounds.stop('r')
    await stage.pass(4 * hour)
    await (await app.store()).prune({ before: ten + 300 * 24 * hour, limit: 100, now: ten + 300 * 24 * hour })
    expect(await app.runs.list()).toEqual([])
    expect(await app.rounds.timing('crawler_service')).toEqual({
      service: 'crawler_service',
      lastRunTimestamp: ten / 1000,
      intervalSeconds: 86_400,
      nextDueTimestamp: ten / 1000 + 86_400,
    })
    expect((await app.rounds.services()).map(({ service }) => service)).toEqual(['crawler_service', 'other'])
  })

  it('R5: accepts only an interval', async () => {
    const stage = new Theatre()
    stage.services('s1')
    await stage.app.start()
    for (const every of [undefined, null, 0, '1 fortnight'] as const) {
      await expect(stage.app.rounds.setTiming('s1', { every: every as never })).rejects.toThrow(/every: /)
    }
    expect(await stage.app.rounds.services()).toEqual([])
  })

  it('R5: set by hand, applies in all rounds that list the service without an interval', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('shared')
    await app.start()
    await app.rounds.start('fast', { every: '1h', services: ['shared'] })
    const slow = { every: '2h', services: ['shared'] }
    await expect(app.rounds.start('slow', slow)).rejects.toThrow('shared every 2h in slow, every 1h in fast')
    await app.rounds.setTiming('shared', { every: '1h' })
    await app.rounds.start('slow', slow)
    await app.rounds.setTiming('shared', { every: '4h' })
    const written = { every: '1h', services: [{ job: 'shared', every: '24h' }] }
    await expect(app.rounds.start('fast', written)).rejects.toThrow(
      'shared every 1d in fast, every 2h in slow',
    )
    await stage.pass(1)
    for (let i = 0; i < 9; i++) {
      await stage.end('shared')
      await stage.pass(hour)
    }
    // At ten, at two and at six.
    expect(stage.begun).toHaveLength(3)
    expect(await app.rounds.timing('shared')).toMatchObject({ intervalSeconds: 4 * 3600 })
  })

  it('R5: is set by hand, before a round lists the service and after', async () => {
    const stage = new Theatre()
    const { app } = stage
    stage.services('a', 'b')
    await app.start()
    await app.rounds.setTiming('b', { every: '3h' })
    await app.rounds.start('r', { every: '1h', services: ['a', 'b'] })
    await app.rounds.setTiming('a', { every: '2h' })
    await stage.pass(1)
    for (let i = 0; i < 4; i++) {
      await stage.end('a')
      await stage.end('b')
      await stage.pass(hour)
    }
    expect(stage.begun).toEqual(['a', 'b', 'a', 'b', 'a'])
    expect(await app.rounds.timing('a')).toMatchObject({ intervalSeconds: 7200 })
    await expect(app.rounds.setTiming('x', { every: '1h' })).rejects.toThrow('no job is named x')
    await expect(app.rounds.setTiming('a', { every: '1ms' })).rejects.toThrow('too short')
    await expect(app.rounds.timing('x')).rejects.toThrow('no service is named x')
  })
})

describe('R13: the saved state can be inspected', () => {
  async function playing(
    store: (directory: string) => string,
  ): Promise<{ stage: Theatre; directory: string }> {
    const directory = await mkdtemp(join(tmpdir(), 'rota-rounds-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const stage = new Theatre(store(directory))
    stage.services('s1', 's2', 's3')
    stage.app.rounds.define('my_scheduler', {
      every: '1h',
      services: ['s1', { job: 's2', every: '2h' }, 's3'],
    })
    await stage.app.start()
    await begins(stage, 's1')
    await stage.end('s1')
    await begins(stage, 's2')
    return { stage, directory }
  }

  /** A real store takes real time, in which the fake clock does not move. */
  async function begins(stage: Theatre, name: string): Promise<void> {
    while (!stage.begun.includes(name)) {
      await new Promise((resolve) => setImmediate(resolve))
      await stage.pass(0)
    }
  }

  it('with plain SQL in an SQLite store', async () => {
    const { directory } = await playing((path) => `sqlite:${join(path, 'rota.db')}`)
    const db = new DatabaseSync(join(directory, 'rota.db'), { readOnly: true })
    const timing = db.prepare('select * from service_timing order by service').all()
    const state = db.prepare('select * from scheduler_state').all()
    db.close()
    const second = ten / 1000
    expect(timing).toEqual([
      { service: 's1', last_run_timestamp: second, interval_seconds: 3600, in_flight_in: null },
      { service: 's2', last_run_timestamp: null, interval_seconds: 7200, in_flight_in: 'my_scheduler' },
      { service: 's3', last_run_timestamp: null, interval_seconds: 3600, in_flight_in: null },
    ])
    expect(state).toEqual([
      {
        round: 'my_scheduler',
        checked_at: second,
        services_queue: '["s3"]',
        current_service: 's2',
        results: '[{"service":"s1","status":"ok","info":"success"}]',
      },
    ])
  })

  it('as lines of a file in a file store', async () => {
    const { directory } = await playing((path) => `files:${join(path, 'data')}`)
    const lines = readFileSync(join(directory, 'data', 'notes.jsonl'), 'utf8')
      .trim()
      .split('\n')
    const notes = lines.map((line) => JSON.parse(line) as { kind: string; name: string; value: unknown })
    const cycle = notes.findLast(({ kind }) => kind === 'cycle')
    expect(cycle).toMatchObject({
      name: 'my_scheduler',
      value: { checkedAt: ten, queue: ['s3'], current: { service: 's2' }, results: [{ service: 's1' }] },
    })
    const timing = notes.findLast(({ kind, name }) => kind === 'service' && name === 's1')
    expect(timing).toMatchObject({ value: { lastRunAt: ten, everyMs: hour } })
  })
})
