import { afterAll, beforeAll, beforeEach, afterEach, expect, it } from 'vitest'
import type { Client } from 'pg'
import { PostgresServer } from '../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../test/fixtures/postgres-store.js'
import { Proxy } from '../../../test/fixtures/proxy.js'
import { systemClock } from '../../time/clock.js'
import { aJob, aRun, outcomes, t0 } from '../conformance/stage.js'
import type { Store } from '../store.js'
import { openPostgresStore } from './postgres-store.js'

let server: PostgresServer
let stores: PostgresStores
let proxy: Proxy
let direct: string
let store: Store
let client: Client
let schema: string
const want = { jobs: ['work'], slots: 10, ahead: 0 }
const fin = (run: string, attempt = 1) => ({ run, attempt, outcome: outcomes.done, startedAt: t0, endedAt: t0 })
const go = () => new Promise((r) => setImmediate(r))

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})
beforeEach(async () => {
  direct = stores.fresh()
  schema = new URL(direct).searchParams.get('schema') as string
  const behind = await Proxy.before(direct)
  proxy = behind.proxy
  store = await openPostgresStore({ url: behind.url, clock: systemClock })
  await store.defineJobs({ source: 'code:test', jobs: [aJob('work'), aJob('other')], queues: [], now: t0 })
  for (const id of ['w', 'v']) await store.register({ id, host: 'here', pid: 1, version: '0', now: t0, leaseMs: 60_000 })
  await store.turn({ worker: 'w', now: t0, finished: [], want })
  client = await server.connect(direct)
})
afterEach(async () => {
  await store.close()
  await proxy.close()
})
afterAll(() => server.stop())

it('T1 a limit defined here while a turn waits holds for that turn', async () => {
  await store.enqueue({ runs: [1, 2, 3, 4, 5].map((n) => aRun(`a${n}`)), now: t0 })
  await store.turn({ worker: 'w', now: t0, finished: [], want: { ...want, slots: 0 } })
  const queue = aJob('work').queue
  const p1 = store.defineJobs({ source: 'code:test', jobs: [aJob('work')], queues: [{ name: queue, concurrency: 1 }], now: t0 })
  const p2 = store.turn({ worker: 'v', now: t0, finished: [], want: { ...want, slots: 1 } })
  await go(); await go()
  const p3 = store.turn({ worker: 'w', now: t0, finished: [], want: { ...want, slots: 3 } })
  const [, a2, a3] = await Promise.all([p1, p2, p3])
  const q = await client.query(`select name, concurrency, running from ${schema}.queues`)
  console.log('T1', a2.claims.length, a3.claims.length, q.rows)
  await store.turn({ worker: 'w', now: t0, finished: a3.claims.map((c) => fin(c.run)), want: undefined })
  console.log('T1 after ends', (await client.query(`select name, concurrency, running from ${schema}.queues`)).rows)
  expect(a2.claims.length + a3.claims.length).toBe(1)
})

it('T2 a refused call whose refusal is lost is not taken for done because a run existed', async () => {
  await store.enqueue({ runs: [aRun('x'), aRun('b')], now: t0 })
  const first = await store.turn({ worker: 'w', now: t0, finished: [], want })
  expect(first.claims.length).toBe(2)
  proxy.cutAt({ at: 1, when: 'answered' })
  const [e, t] = await Promise.all([
    store.enqueue({ runs: [aRun('x')], now: t0 }),
    store.turn({ worker: 'w', now: t0, finished: [fin(aRun('b').id)], want: undefined }),
  ])
  const state = (await store.run(aRun('b').id))?.state
  console.log('T2', e, t.finished, state)
  expect([t.finished[0], state]).toEqual(['stored', 'done'])
})

it('T3 says that there is more where others hold the rest locked', async () => {
  await store.enqueue({ runs: [aRun('p'), aRun('q')], now: t0 })
  await client.query('begin')
  const { rows } = await client.query(`select seq from ${schema}.runs where state = 2 or true order by seq limit 2 for update skip locked`)
  const a = await store.turn({ worker: 'w', now: t0, finished: [], want: { ...want, slots: 1 } })
  await client.query('commit')
  console.log('T3', rows.length, a.claims.length, a.more)
  expect(a.more).toBe(true)
})

it('T4 a stale report of another makes no claim unknown', async () => {
  await store.enqueue({ runs: [aRun('r'), aRun('b')], now: t0 })
  const first = await store.turn({ worker: 'w', now: t0, finished: [], want })
  expect(first.claims.length).toBe(2)
  // Upkeep here reports an older attempt, which another process has ended already.
  await store.turn({ worker: 'v', now: t0, finished: [{ ...fin(aRun('r').id, 7) }], want: undefined })
  await store.turn({ worker: 'w', now: t0, finished: [], want: { ...want, slots: 0 } })
  proxy.cutAt({ at: 1, when: 'before' })
  const t = await store.turn({ worker: 'w', now: t0, finished: [fin(aRun('b').id)], want: undefined })
  const state = (await store.run(aRun('b').id))?.state
  console.log('T4', t.finished, t.claims.map((c) => c.run), 'b is', state)
  expect([t.claims.length, state]).toEqual([0, 'done'])
})

it('T5 tells others where the worker is draining', async () => {
  const other = await openPostgresStore({ url: direct, clock: systemClock })
  let hints = 0
  await new Promise<void>((resolve) => { other.watch(() => { hints++; resolve() }) })
  await store.drain({ worker: 'w', isDraining: true })
  await new Promise((r) => setTimeout(r, 300))
  hints = 0
  await store.turn({ worker: 'w', now: t0, finished: [], want })
  await Promise.all([store.enqueue({ runs: [aRun('n')], now: t0 }), store.turn({ worker: 'w', now: t0, finished: [], want })])
  await new Promise((r) => setTimeout(r, 500))
  await other.close()
  console.log('T5 hints', hints)
  expect(hints).toBeGreaterThan(0)
})

it('T7 a question that fails for another reason orphans no claim', async () => {
  await client.query(`create sequence ${schema}.s; create function ${schema}.fail() returns trigger language plpgsql as $$ begin
    if nextval('${schema}.s') = 1 then raise exception 'disk' using errcode = '53100'; end if; return new; end $$;
    create trigger t before insert on ${schema}.fences for each row execute function ${schema}.fail()`)
  proxy.cutAt({ at: 1, when: 'answered' })
  const [e, t] = await Promise.allSettled([
    store.enqueue({ runs: [aRun('k')], now: t0 }),
    store.turn({ worker: 'w', now: t0, finished: [], want }),
  ])
  const state = (await store.run(aRun('k').id))?.state
  console.log('T7', JSON.stringify(e), JSON.stringify(t), 'k is', state)
  expect(t.status === 'rejected' || t.value.claims.length === 1).toBe(true)
})

it('T8 synchronous_commit off lasts to the commit', async () => {
  await client.query('begin')
  await client.query(`set local synchronous_commit = on`)
  await client.query(`select ${schema}.commit_plain('x', 0, null, null, 0, false, '{}', '{}', '{}',
    '{}', '{}', '{}', '{}', '{}', null, ${t0}, 0, '{}', '{}', '{}', '{}', '{}', '{work}', '{null}', '{null}', 1, 0, 1)`)
  const { rows } = await client.query('show synchronous_commit')
  const l = await client.query('show lock_timeout')
  await client.query('rollback')
  console.log('T8', rows, l.rows)
})

it('T9 two jobs, long index, few slots', async () => {
  const w2 = { jobs: ['work', 'other'], slots: 1, ahead: 0 }
  const now0 = t0
  await client.query('begin isolation level repeatable read'); await client.query('select 1')
  // many passed entries
  await store.enqueue({ runs: Array.from({ length: 900 }, (_, i) => aRun(`d${i}`, { runAt: now0, dueAt: now0 })), now: now0 })
  const c2 = await server.connect(direct)
  await c2.query(`select txid_current()`)
  const holder = await server.connect(direct)
  await holder.query('begin isolation level repeatable read'); await holder.query(`select count(*) from ${schema}.runs`)
  const a = await store.turn({ worker: 'w', now: now0, finished: [], want: { jobs: ['work'], slots: 900, ahead: 0 } })
  await store.turn({ worker: 'w', now: now0, finished: a.claims.map((c) => fin(c.run)), want: undefined })
  const at = now0 + 20_000
  await store.enqueue({ runs: [aRun('y1', { runAt: now0 + 1, dueAt: now0 + 1 }), aRun('z1', { job: 'other', runAt: now0 + 5000, dueAt: now0 + 5000 })], now: at })
  const one = await store.turn({ worker: 'w', now: at, finished: [], want: w2 })
  const two = await store.turn({ worker: 'w', now: at + 1, finished: one.claims.map((c) => fin(c.run)), want: w2 })
  console.log('T9', one.claims.map((c) => c.job), one.more, two.claims.map((c) => c.job), two.more)
  await holder.query('rollback'); await client.query('rollback')
  expect(two.claims.length).toBe(1)
})
it('T5b', async () => {
  await store.drain({ worker: 'w', isDraining: true })
  const l = await server.connect(direct)
  const got: string[] = []
  l.on('notification', (n) => got.push(`${n.payload}`))
  await l.query(`listen "rota:${schema}"`)
  await new Promise((r) => setTimeout(r, 500))
  console.log('T5b before', got)
  const [, t] = await Promise.all([store.enqueue({ runs: [aRun('n')], now: t0 }), store.turn({ worker: 'w', now: t0, finished: [], want })])
  await new Promise((r) => setTimeout(r, 500))
  console.log('T5b', got, t)
})
