import { afterAll, beforeAll, expect, it } from 'vitest'
import { PostgresServer } from '../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../test/fixtures/postgres-store.js'
import { systemClock } from '../../time/clock.js'
import { aRun, outcomes, Stage, t0 } from '../conformance/stage.js'
import { openPostgresStore } from './postgres-store.js'

let server: PostgresServer
let stores: PostgresStores

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

it.each(['tenant', 'Ten"ant x'])(
  'a role that owns only its schema is enough, if it is named %s',
  async (name) => {
    await addRole(name)
    await stores.client.query(`create schema ${quoted(name)} authorization ${quoted(name)}`)
    await work(addressOf(name, name))
  },
)

it('a role that may create schemas creates its own', async () => {
  await addRole('maker')
  const { database } = await stores.client
    .query<{ database: string }>('select current_database() as database')
    .then(({ rows }) => rows[0] as { database: string })
  await stores.client.query(`grant create on database ${database} to maker`)
  await work(addressOf('maker', 'made by maker'))
})

it('a role that may not create its schema gets the statement to request, and that is enough', async () => {
  await addRole('Guest')
  await takeAdvice(addressOf('Guest', "guest's own"), `create schema "guest's own" authorization "Guest"`)
})

it('a role that may not use the schema of another gets the statement to request, and that is enough', async () => {
  await addRole('neighbour')
  await stores.client.query('create schema "Garden"')
  await takeAdvice(addressOf('neighbour', 'Garden'), 'grant usage, create on schema "Garden" to neighbour')
})

it('a role that may not use the tables of another gets the statement to request, and that is enough', async () => {
  await addRole('lodger')
  await work(stores.address('house'))
  await stores.client.query('grant usage, create on schema house to lodger')
  const advice = 'grant select, insert, update, delete on all tables in schema house to lodger'
  await takeAdvice(addressOf('lodger', 'house'), advice)
})

it('a role that may only read can read', async () => {
  await addRole('looker')
  await work(stores.address('pane'))
  await stores.client.query(
    'grant usage on schema pane to looker; grant select on all tables in schema pane to looker',
  )
  const store = await openPostgresStore({
    url: addressOf('looker', 'pane'),
    create: false,
    clock: systemClock,
  })
  expect((await store.counts()).done).toBe(1)
  await expect(store.enqueue({ runs: [aRun('b')], now: t0 })).rejects.toMatchObject({ code: 'STORE_URL' })
  await store.close()
})

/** Is refused, lets an administrator perform the statement of the message, and then works. */
async function takeAdvice(url: string, advice: string): Promise<void> {
  const refusal: unknown = await openPostgresStore({ url, clock: systemClock }).catch(
    (error: unknown) => error,
  )
  expect(refusal).toMatchObject({ code: 'STORE_URL' })
  expect(String(refusal)).toContain(advice)
  expect(String(refusal)).not.toContain('sesame')
  await stores.client.query(advice)
  await work(url, 'advised')
}

/** Everything that a worker does with a run. */
async function work(url: string, name = 'a'): Promise<void> {
  const store = await openPostgresStore({ url, clock: systemClock })
  const stage = new Stage({ store, reopen: () => Promise.resolve(store), dispose: () => store.close() })
  await stage.ready()
  await stage.enqueue([aRun(name, { uniqueKey: name, slots: [{ key: 'g', limit: 1 }] })])
  const claim = await stage.claimOne('w', t0)
  await stage.finish('w', claim, { outcome: outcomes.done, at: t0 })
  await store.close()
}

async function addRole(name: string): Promise<void> {
  await stores.client.query(`create role ${quoted(name)} login password 'sesame'`)
}

function addressOf(role: string, schema: string): string {
  const url = new URL(stores.address(encodeURIComponent(schema)))
  url.username = encodeURIComponent(role)
  url.password = 'sesame'
  return url.href
}

function quoted(name: string): string {
  return stores.client.escapeIdentifier(name)
}
