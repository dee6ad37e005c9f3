import type { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PostgresServer } from '../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../test/fixtures/postgres-store.js'
import type { Tick } from '../../model/tick.js'
import { systemClock } from '../../time/clock.js'
import { aJob, aRun, aTrigger, minute, outcomes, Stage, t0 } from '../conformance/stage.js'
import { openPostgresStore } from './postgres-store.js'

let server: PostgresServer
let stores: PostgresStores

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

/** The statements that a tick runs, one after the other: a fault stands before each of them. */
const places = [
  'update on triggers',
  'insert on runs',
  'insert on gates',
  'insert on ledger',
  'update on runs',
  'insert on notices',
  'insert on attempts',
]

it.each(places)('G2: a tick that breaks at the %s leaves nothing, and can be made again', async (place) => {
  await withStage(async (stage, fault) => {
    const tick = await prepareTick(stage)
    const before = await factsOf(stage)
    await fault.put(place)
    const other = stage.store.enqueue({ runs: [aRun('later', { runAt: t0 + 9 * minute })], now: t0 })
    const ticked = stage.store.tick([tick])
    if (place !== 'insert on runs') await other
    else await expect(other).rejects.toThrow('broken on purpose')
    await expect(ticked).rejects.toThrow('broken on purpose')
    expect(await factsOf(stage)).toEqual(before)
    await fault.remove()
    expect(await stage.store.tick([tick])).toEqual(['ticked'])
    expect((await stage.stored('t')).cursorAt).toBe(tick.cursorAt)
    expect(await factsOf(stage)).not.toEqual(before)
  })
})

it('G5: a turn that breaks after it stored what was finished has not stored it', async () => {
  await withStage(async (stage, fault) => {
    await stage.ready()
    await stage.enqueue([aRun('a'), aRun('b')])
    const claim = await stage.claimOne('w', t0)
    const finished = [{ ...claim, outcome: outcomes.done, startedAt: t0, endedAt: t0 + 1 }]
    const request = { worker: 'w', now: t0 + 1, finished, want: { jobs: ['work'], slots: 1, ahead: 0 } }
    await fault.put('update on runs', 'new.state = 3')
    await expect(stage.store.turn(request)).rejects.toThrow('broken on purpose')
    expect((await stage.run(claim.run)).state).toBe('running')
    await fault.remove()
    const answer = await stage.store.turn(request)
    expect(answer.finished).toEqual(['stored'])
    expect(answer.claims.map(({ run }) => run)).toEqual([aRun('b').id])
  })
})

it('what was remembered of a rolled back transaction is forgotten with it', async () => {
  await withStage(async (stage, fault) => {
    await stage.ready()
    await fault.put('insert on runs', 'new.priority = 7')
    const queues = [{ name: 'default', concurrency: 0 }]
    const answers = await Promise.allSettled([
      stage.store.enqueue({ runs: [aRun('a')], now: t0 }),
      stage.store.turn({ worker: 'w', now: t0, finished: [], want: { jobs: ['work'], slots: 1, ahead: 0 } }),
      stage.store.defineJobs({ source: 'code:test', jobs: [aJob('work')], queues, now: t0 }),
      stage.store.enqueue({ runs: [aRun('bad', { priority: 7 })], now: t0 }),
    ])
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected'])
    await stage.enqueue([aRun('b')])
    expect(await stage.claim('w', t0)).toEqual([])
    expect((await stage.run(aRun('a').id)).state).toBe('running')
    const finished = [{ run: aRun('a').id, attempt: 1, outcome: outcomes.done, startedAt: t0, endedAt: t0 }]
    expect((await stage.turn('w', t0, finished)).finished).toEqual(['stored'])
  })
})

it('what one process remembers of the definitions does not outlive a change by another', async () => {
  await withStage(async (stage, _fault, url) => {
    await stage.ready()
    await stage.enqueue([aRun('a'), aRun('b')])
    expect(await stage.claim('w', t0, { slots: 1 })).toHaveLength(1)
    const other = await openPostgresStore({ url, clock: systemClock })
    const queues = [{ name: 'default', concurrency: 1 }]
    await other.defineJobs({ source: 'code:test', jobs: [aJob('work')], queues, now: t0 })
    expect(await stage.claim('w', t0)).toEqual([])
    await other.close()
  })
})

it('G3: texts that differ only behind a zero byte are different texts', async () => {
  await withStage(async (stage) => {
    const runs = [aRun('a', { uniqueKey: 'k\0a' }), aRun('b', { uniqueKey: 'k\0b', partition: 'p\0q' })]
    await stage.enqueue(runs)
    const line = { run: aRun('a').id, attempt: 1, at: t0, level: 'info', text: 'before\0after' } as const
    await stage.store.log([line])
    expect((await stage.run(aRun('b').id)).partition).toBe('p\u2400q')
    expect((await stage.store.logs({ run: line.run, limit: 1 }))[0]?.text).toBe('before\u2400after')
  })
})

/** A row trigger of the database that breaks whatever comes to it. */
class Fault {
  readonly #client: Client
  readonly #schema: string
  #table = ''

  constructor(client: Client, schema: string) {
    this.#client = client
    this.#schema = schema
  }

  async put(place: string, when = 'true'): Promise<void> {
    this.#table = `${this.#schema}.${place.split(' ').at(-1)}`
    const verb = place.split(' ')[0]
    await this.#client.query(`
      create or replace function ${this.#schema}.fault() returns trigger language plpgsql
        as $$ begin raise exception 'broken on purpose'; end $$;
      create trigger fault before ${verb} on ${this.#table} for each row
        when (${when}) execute function ${this.#schema}.fault()`)
  }

  async remove(): Promise<void> {
    if (this.#table !== '') await this.#client.query(`drop trigger if exists fault on ${this.#table}`)
    this.#table = ''
  }
}

async function withStage(prove: (stage: Stage, fault: Fault, url: string) => Promise<void>): Promise<void> {
  const opened = await stores.open()
  const fault = new Fault(stores.client, opened.schema)
  try {
    await prove(new Stage(opened), fault, opened.url)
  } finally {
    await fault.remove()
    await opened.dispose()
  }
}

/** A tick with a run that has a gate, a range, and an older run that is held and has to make room. */
async function prepareTick(stage: Stage): Promise<Tick> {
  await stage.ready()
  await stage.trigger(aTrigger('t', { overlap: 'terminate-running', catchUp: latest }))
  await stage.tick('t', t0 + minute)
  await stage.claimOne('w', t0 + minute)
  await stage.tick('t', t0 + 2 * minute, { supersede: undefined })
  const now = t0 + 5 * minute
  const planned = await stage.seen('t', now)
  const range = { trigger: 't', version: 1, firstAt: now - minute, lastAt: now - minute } as const
  return {
    trigger: 't',
    revision: planned.revision,
    at: now,
    cursorAt: now,
    nextAt: now + minute,
    chainRun: undefined,
    runs: [
      aRun('tick', {
        trigger: 't',
        origin: 'trigger',
        dueAt: now,
        gates: [{ key: 'other', limit: 1 }],
        version: 1,
      }),
    ],
    ranges: [{ ...range, reason: 'missed', rule: 'catch-up:skip' }],
    supersede: { mode: 'terminate', by: aRun('tick', { dueAt: now }).id },
  }
}

const latest = { mode: 'latest', maxAgeMs: undefined, maxRuns: 100, graceMs: minute } as const

async function factsOf(stage: Stage): Promise<unknown> {
  const { store } = stage
  const runs = await store.runs({ limit: 100, trigger: 't' })
  const window = { trigger: 't', fromAt: 0, untilAt: t0 * 2 }
  return {
    trigger: await stage.stored('t'),
    runs,
    attempts: await Promise.all(runs.map(({ id }) => store.attempts(id))),
    ledger: await store.ledger(window),
  }
}
