import { afterAll, beforeAll, expect, it } from 'vitest'
import { PostgresServer } from '../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../test/fixtures/postgres-store.js'
import { systemClock } from '../../time/clock.js'
import { aRun, t0 } from '../conformance/stage.js'
import type { Store } from '../port.js'
import { openPostgresStore } from './postgres-store.js'
import { schemaVersion } from './schema.js'

let server: PostgresServer
let stores: PostgresStores

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

it('processes that open a new store concurrently create one store', async () => {
  const url = stores.fresh()
  const opened = await Promise.all(Array.from({ length: 4 }, () => open(url)))
  const ids = await Promise.all(opened.map(async (store) => (await store.health({ now: 0 })).id))
  expect(new Set(ids).size).toBe(1)
  await Promise.all(opened.map((store) => store.close()))
})

it.each([
  'Upper',
  'select',
  'with space',
  `It's "odd" – rota.x`,
  `$& $1 $$ 'rota'::name rota_lock_key`,
  'größe.日本',
  'x'.repeat(58),
])('a schema may be named %s', async (name) => {
  const store = await open(stores.address(encodeURIComponent(name)))
  const listening = new Promise<void>((resolve) => {
    store.watch(() => resolve())
  })
  await store.enqueue({ runs: [aRun('a'), aRun('b', { uniqueKey: 'k' })], now: t0 })
  expect((await store.counts()).pending).toBe(2)
  await listening
  await store.close()
  const made = `select from pg_namespace where nspname = $1`
  expect((await stores.client.query(made, [name])).rows).toHaveLength(1)
})

it.each(['', 'x'.repeat(59), 'ü'.repeat(30), 'pg_rota'])('a schema may not be named "%s"', async (name) => {
  await expect(open(stores.address(encodeURIComponent(name)))).rejects.toMatchObject({ code: 'STORE_URL' })
})

it('G5: sessions with another default isolation level make no difference', async () => {
  await stores.client.query(
    `do $$ begin execute format('alter database %I set default_transaction_isolation = ''serializable''', current_database()); end $$`,
  )
  const url = stores.fresh()
  const opened = await Promise.all([open(url), open(url)])
  const claimRequest = { jobs: ['work'], slots: 1, prefetch: 0 }
  const taken = await Promise.all(
    opened.map(async (store, i) => {
      const claimed: string[] = []
      await store.register({ id: `w${i}`, host: 'here', pid: 1, version: '0', now: t0, leaseMs: 60_000 })
      let isMore = true
      for (let n = 0; n < 10 || isMore; n++) {
        if (n < 10) await store.enqueue({ runs: [aRun(`serial${i}-${n}`)], now: t0 })
        const { claims, more } = await store.turn({ worker: `w${i}`, now: t0, finished: [], claimRequest })
        claimed.push(...claims.map(({ run }) => run))
        isMore = more
      }
      return claimed
    }),
  )
  expect(new Set(taken.flat()).size).toBe(20)
  expect(taken.flat()).toHaveLength(20)
  await Promise.all(opened.map((store) => store.close()))
  await stores.client.query(
    `do $$ begin execute format('alter database %I reset default_transaction_isolation', current_database()); end $$`,
  )
})

it('a schema with tables of another program is refused and left unchanged', async () => {
  await stores.client.query('create schema theirs; create table theirs.orders (id int)')
  await expect(open(stores.address('theirs'))).rejects.toMatchObject({ code: 'STORE_CORRUPT' })
  const { rows } = await stores.client.query(`select tablename from pg_tables where schemaname = 'theirs'`)
  expect(rows).toEqual([{ tablename: 'orders' }])
})

it('a reader does not create a missing store', async () => {
  const url = stores.fresh()
  await expect(open(url, { create: false })).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
  await expect(open(url, { create: false })).rejects.toThrow(/no Rota store/)
})

it('a store of a newer schema is used if that schema allows it, and refused otherwise', async () => {
  const url = stores.address('later')
  await (await open(url)).close()
  await stores.client.query('update later.meta set version = $1', [schemaVersion + 1])
  await (await open(url)).close()
  await stores.client.query('update later.meta set compatible_from = $1', [schemaVersion + 1])
  await expect(open(url)).rejects.toMatchObject({ code: 'STORE_VERSION' })
})

it('messages never show a password, wherever it is', async () => {
  const address = new URL(stores.fresh())
  address.password = 'sesame'
  address.searchParams.set('listen', 'postgres://listener:sesame@localhost/db')
  const error: unknown = await open(address.href, { create: false }).catch((refusal: unknown) => refusal)
  expect(String(error)).not.toContain('sesame')
})

it('the clock that follows the database is right before anything is written', async () => {
  const { DatabaseClock } = await import('./connection/clock.js')
  const wrong = { ...systemClock, now: () => systemClock.now() - 3_600_000 }
  const clock = new DatabaseClock(wrong)
  const store = await openPostgresStore({ url: stores.fresh(), clock })
  const { rows } = await stores.client.query<{ at: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as at',
  )
  expect(Math.abs(clock.now() - (rows[0]?.at ?? 0))).toBeLessThan(1000)
  await store.close()
})

function open(url: string, given: { create?: boolean } = {}): Promise<Store> {
  return openPostgresStore({ url, clock: systemClock, ...given })
}
