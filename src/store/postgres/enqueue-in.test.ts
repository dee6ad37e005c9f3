import { createRequire } from 'node:module'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { PostgresServer } from '../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../test/fixtures/postgres-store.js'
import { instantOfRunId, runIdLength } from '../../kernel/identity/identity.js'
import { systemClock } from '../../time/clock.js'
import { aJob, aRun, Stage, t0 } from '../conformance/stage.js'
import { enqueueIn, type Transaction } from './enqueue-in.js'
import { openPostgresStore } from './postgres-store.js'

// Its types are not those of this package, which uses clients only.
const { Pool } = createRequire(import.meta.url)('pg') as {
  Pool: new (options: object) => Transaction & { end(): Promise<void> }
}

let server: PostgresServer
let stores: PostgresStores
let opened: Awaited<ReturnType<PostgresStores['open']>>
let stage: Stage

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

beforeEach(async () => {
  opened = await stores.open()
  stage = new Stage(opened)
  await stage.jobs([aJob('work'), aJob('narrow', { concurrency: 1, concurrencyPerKey: 2, priority: 3 })])
  await stage.worker('w')
})

afterEach(() => opened.dispose())

it('a run that is enqueued in a transaction exists if that commits, and does not if it rolls back', async () => {
  const { client } = stores
  for (const end of ['rollback', 'commit']) {
    await client.query('begin')
    const answers = await enqueueIn(client, { url: opened.url, runs: [aRun('a', { payload: [1] })], now: t0 })
    expect(answers).toEqual([{ id: aRun('a').id, created: true }])
    expect(await stage.claim('w', t0)).toEqual([])
    await client.query(end)
  }
  const [claim] = await stage.claim('w', t0)
  expect(claim).toMatchObject({ run: aRun('a').id, payload: [1], attempt: 1 })
})

it('the deadlines of a run are recorded in the same transaction, if the run is', async () => {
  const { client } = stores
  const deadlines = [
    { rule: 'started-within', of: 'job', name: 'work', deadlineAt: t0 + 50, withinMs: 50 },
  ] as const
  const runs = [aRun('a', { deadlines, uniqueKey: 'k' }), aRun('b', { deadlines, uniqueKey: 'k' })]
  for (const end of ['rollback', 'commit']) {
    await client.query('begin')
    await enqueueIn(client, { url: opened.url, runs, now: t0 })
    await client.query(end)
  }
  const found = await opened.store.stateEntries({ kind: 'deadline', limit: 9 })
  expect(found).toMatchObject([{ value: { run: aRun('a').id, rule: 'started-within' }, revision: 1 }])
})

it('a connection without a transaction, or a pool, is refused and records nothing', async () => {
  const { client } = stores
  const pool = new Pool({ connectionString: opened.url.replace(/[?&]schema=[^&]*/, ''), max: 2 })
  const request = { url: opened.url, runs: [aRun('a'), aRun('b')], now: t0 }
  const refused = { code: 'DEFINITION_INVALID', faults: [{ path: 'tx' }] }
  await expect(enqueueIn(pool, request)).rejects.toMatchObject(refused)
  await expect(enqueueIn(client, request)).rejects.toMatchObject(refused)
  // An earlier transaction on the same connection does not count.
  await client.query('begin')
  await enqueueIn(client, request)
  await client.query('rollback')
  await expect(enqueueIn(client, request)).rejects.toMatchObject(refused)
  expect(await opened.store.runs({ limit: 9 })).toEqual([])
  await pool.end()
})

it('its commit notifies watchers', async () => {
  const hints: (() => void)[] = []
  const hint = (): void => hints.shift()?.()
  const next = (): Promise<void> => new Promise((resolve) => hints.push(resolve))
  const listening = next()
  const unwatch = opened.store.watch(hint)
  await listening
  const told = next()
  await stores.client.query(`select ${opened.schema}.enqueue('work')`)
  await told
  unwatch()
})

it('G6: a run with concurrency slots takes them like any other, however long its transaction took', async () => {
  const slots = [{ key: 'gate', limit: 1 }]
  await stage.enqueue([aRun('first', { slots })])
  const { client } = stores
  await client.query('begin')
  await enqueueIn(client, { url: opened.url, runs: [aRun('second', { slots })], now: t0 })
  const first = await stage.claimOne('w', t0)
  await client.query('commit')
  expect(await stage.claim('w', t0)).toEqual([])
  await stage.finish('w', first, { outcome: { end: 'done', state: 'done' }, at: t0 })
  expect((await stage.claimOne('w', t0)).run).toBe(aRun('second').id)
})

it('a unique key that is taken in an open transaction is waited for, and other writers do not wait', async () => {
  const { client } = stores
  await client.query('begin')
  const mine = aRun('mine', { uniqueKey: 'k' })
  await enqueueIn(client, { url: opened.url, runs: [mine], now: t0 })
  const theirs = stage.store.enqueue({ runs: [aRun('theirs', { uniqueKey: 'k' })], now: t0 })
  await stage.enqueue([aRun('other'), aRun('another', { uniqueKey: 'j' })])
  await client.query('commit')
  expect(await theirs).toEqual([{ id: mine.id, created: false }])
})

it('a taken unique key returns the run that has it', async () => {
  await stage.enqueue([aRun('a', { uniqueKey: 'k' })])
  const { rows } = await stores.client.query<{ id: string }>(
    `select ${opened.schema}.enqueue('work', options => '{"uniqueKey": "k"}') as id`,
  )
  expect(rows).toEqual([{ id: aRun('a').id }])
})

it('the SQL function accepts the same options as enqueue', async () => {
  const options = JSON.stringify({
    delay: '90 s',
    concurrencyKey: 'g',
    uniqueKey: 'u',
    uniqueFor: '1 h',
    partition: 'p',
  })
  const before = systemClock.now()
  const { rows } = await stores.client.query<{ id: string }>(
    `select ${opened.schema}.enqueue('narrow', '{"to": "you"}', $1) as id`,
    [options],
  )
  const [id = ''] = rows.map((row) => row.id)
  expect(id).toHaveLength(runIdLength)
  const run = await stage.run(id)
  expect(run).toMatchObject({
    job: 'narrow',
    origin: 'enqueue',
    state: 'pending',
    priority: 3,
    payload: { to: 'you' },
    partition: 'p',
    uniqueKey: 'u',
  })
  expect(instantOfRunId(id)).toBe(run.dueAt)
  expect(run.dueAt - before).toBeGreaterThan(85_000)
  const facts = await opened.store.facts({ after: JSON.stringify([5, '']), limit: 1 })
  expect(facts.facts[0]).toMatchObject({
    run: {
      slots: [
        { key: 'job:narrow', limit: 1 },
        { key: 'key:narrow=g', limit: 2 },
      ],
    },
  })
})

it('a trigger of the database may record a run: no row without its run', async () => {
  const { client } = stores
  await client.query(`create table ${opened.schema}.orders (id int);
    create function ${opened.schema}.on_order() returns trigger language plpgsql as $$ begin
      perform ${opened.schema}.enqueue('work', jsonb_build_object('order', new.id)); return null; end $$;
    create trigger on_order after insert on ${opened.schema}.orders for each row
      execute function ${opened.schema}.on_order()`)
  await client.query(`insert into ${opened.schema}.orders select generate_series(1, 3)`)
  const now = systemClock.now() + 1000
  await stage.store.heartbeat({ worker: 'w', now, leaseMs: 60_000 })
  const claims = await stage.claim('w', now)
  expect(claims.map(({ payload }) => payload)).toEqual([{ order: 1 }, { order: 2 }, { order: 3 }])
  await client.query(`drop table ${opened.schema}.orders; drop function ${opened.schema}.on_order()`)
})

it('a role that may insert runs and read jobs is enough', async () => {
  const { client } = stores
  await client.query(`create role shop; grant usage on schema ${opened.schema} to shop;
    grant select on ${opened.schema}.jobs to shop; grant select, insert on ${opened.schema}.runs to shop`)
  await client.query('begin; set local role shop')
  await client.query(`select ${opened.schema}.enqueue('work', null, '{"uniqueKey": "k"}')`)
  await client.query('commit')
  expect((await opened.store.counts()).pending).toBe(1)
})

it('unsupported calls are refused with a clear message', async () => {
  const ask = (call: string) => stores.client.query(`select ${opened.schema}.enqueue(${call})`)
  await expect(ask(`'nobody'`)).rejects.toThrow('no job nobody is defined in this store')
  await expect(ask(`'work', null, '{"dealy": 1}'`)).rejects.toThrow('unknown options: dealy')
  await stores.client.query('begin isolation level repeatable read')
  await expect(ask(`'work', null, '{"uniqueKey": "k"}'`)).rejects.toThrow('read committed')
  await stores.client.query('rollback')
})

it('a store in a schema with an unusual name is notified, too', async () => {
  const url = stores.address(encodeURIComponent(`o'dd "x"`))
  const store = await openPostgresStore({ url, clock: systemClock })
  await stores.client.query('begin')
  const [answer] = await enqueueIn(stores.client, { url, runs: [aRun('a', { uniqueKey: 'k' })], now: t0 })
  await stores.client.query('commit')
  expect(answer?.created).toBe(true)
  expect((await store.counts()).pending).toBe(1)
  await store.close()
})
