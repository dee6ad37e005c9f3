import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrateStore, type MigrateOptions } from '../../src/app/migrate/migrate-store.js'
import { openStore } from '../../src/app/store/open-store.js'
import { aRun, aTrigger, minute, outcomes, Stage, t0 } from '../../src/store/conformance/stage.js'
import type { Store } from '../../src/store/port.js'
import { systemClock } from '../../src/time/clock.js'
import { PostgresServer } from '../fixtures/postgres.js'
import { PostgresStores } from '../fixtures/postgres-store.js'

let server: PostgresServer
let stores: PostgresStores
let directory: string

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
  directory = mkdtempSync(join(tmpdir(), 'rota-migrate-'))
})

afterAll(async () => {
  rmSync(directory, { recursive: true })
  await server.stop()
})

it('moves everything from SQLite to Postgres to files to Postgres and back to SQLite, without a difference', async () => {
  const [first, last] = ['sqlite:first.db', 'sqlite:last.db']
  await withStore(first, live)
  const before = await withStore(first, factsOf)
  const [one, other] = [stores.fresh(), stores.fresh()]
  for (const [from, to] of [
    [first, one],
    [one, 'files:data'],
    ['files:data', other],
    [other, last],
  ] as const) {
    const { counts } = await move({ from, to })
    expect(counts).toMatchObject({ job: 1, trigger: 2, note: 1, seen: 1 })
    expect(await withStore(to, factsOf)).toEqual(before)
  }
})

it('a dry run counts, creates nothing and shows no password', async () => {
  await withStore('sqlite:dry.db', live)
  const to = stores.fresh()
  const report = await move({ from: 'sqlite:dry.db', to, isDry: true })
  expect(report.counts).toMatchObject({ run: 30 })
  expect(report.to).not.toContain(':rota@')
  await expect(openStore(to, { ...options(), create: false })).rejects.toMatchObject({
    code: 'STORE_NOT_FOUND',
  })
})

function move(given: MigrateOptions): ReturnType<typeof migrateStore> {
  return migrateStore({ ...given, directory })
}

function options() {
  return { clock: systemClock, directory, durability: 'normal', create: true } as const
}

async function withStore<T>(url: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url, options())
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

/** Something of every kind. */
async function live(store: Store): Promise<void> {
  const stage = new Stage({ store, reopen: () => Promise.resolve(store), dispose: () => store.close() })
  await stage.ready({ concurrency: 3 })
  await stage.trigger(aTrigger('t'))
  await stage.trigger(aTrigger('paused'))
  await store.hold({ target: 'trigger:paused', now: t0, actor: 'me', note: 'later' })
  const slots = [{ key: 'job:work', limit: 3 }]
  await stage.enqueue(Array.from({ length: 27 }, (_, i) => aRun(`r${i}`, { slots, payload: { i } })))
  await stage.tick('t', t0 + 3 * minute, { seen: [{ digest: 'd' }] })
  const note = { kind: 'plan', name: 'p', item: '', value: { a: [1, null] } } as const
  await store.changeState({ changes: [note], now: t0 })
  const claims = await stage.claim('w', t0 + 3 * minute, { slots: 2 })
  for (const claim of claims)
    await stage.finish('w', claim, { outcome: outcomes.failed, at: t0 + 3 * minute })
  await stage.store.log([{ run: aRun('r1').id, attempt: 1, at: t0, level: 'info', text: 'hello' }])
}

async function factsOf(store: Store): Promise<unknown> {
  const runs = await store.runs({ limit: 100 })
  return {
    runs,
    attempts: await Promise.all(runs.map(({ id }) => store.attempts(id))),
    triggers: await store.triggers(),
    versions: await store.versions('t'),
    jobs: await store.jobs(),
    notes: await store.stateEntries({ kind: 'plan', limit: 9 }),
    logs: await store.logs({ run: aRun('r1').id, limit: 9 }),
  }
}
