import type { Client } from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { PostgresServer } from '../../../test/fixtures/postgres.js'
import { systemClock } from '../../time/clock.js'
import { Database, Statements } from './connection/database.js'
import { oldTransactions } from './old-transactions.js'
import { openPostgresStore } from './postgres-store.js'

const atOnce = { ms: 0, transactions: 0 }
let server: PostgresServer
let url: string

beforeAll(async () => {
  server = await PostgresServer.start({ settings: { max_prepared_transactions: '2' } })
  url = await server.createDatabase()
})

afterAll(async () => {
  await server.stop()
})

async function connected(address = url): Promise<Client> {
  const client = await server.connect(address)
  onTestFinished(() => server.release(client))
  return client
}

function databaseOf(client: Client): Database {
  return new Database(client, new Statements({ schema: 'rota', prepare: 'off' }))
}

/** A session with an open transaction that has read something and is idle. */
async function holder(): Promise<{ client: Client; pid: number }> {
  const client = await connected()
  await client.query(`set application_name = 'report'`)
  await client.query('begin isolation level repeatable read')
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return { client, pid: rows[0]?.pid ?? 0 }
}

it('a transaction that holds a snapshot is named, with its session and how to end it', async () => {
  const { client, pid } = await holder()
  const db = databaseOf(await connected())
  expect(await oldTransactions(db, atOnce)).toEqual([
    {
      message: expect.stringMatching(
        new RegExp(
          `^session ${pid} \\(report, role \\w+, idle in transaction\\) has had a transaction open for`,
        ),
      ) as unknown,
      todo: expect.stringContaining(`pg_terminate_backend(${pid})`) as unknown,
    },
  ])
  await client.query('rollback')
  expect(await oldTransactions(db, atOnce)).toEqual([])
})

it('one with neither a number nor a snapshot does not block vacuum, and is not named', async () => {
  const client = await connected()
  await client.query('begin')
  await client.query('select 1')
  expect(await oldTransactions(databaseOf(await connected()), atOnce)).toEqual([])
})

it('transactions younger than five minutes are not named', async () => {
  const { client } = await holder()
  const store = await openPostgresStore({ url, clock: systemClock })
  expect((await store.health({ now: systemClock.now() })).warnings).toEqual([])
  await store.close()
  await client.query('rollback')
})

it('a role that may not read the times of others still sees old transactions', async () => {
  const { client, pid } = await holder()
  const admin = await connected()
  await admin.query(`create role plain login password 'plain'`)
  const address = new URL(url)
  address.username = 'plain'
  address.password = 'plain'
  const db = databaseOf(await connected(address.href))
  await admin.query(`create table grown (n int)`)
  for (let i = 0; i < 5; i++) await admin.query('insert into grown values (1)')
  expect(await oldTransactions(db, { ms: 0, transactions: 1000 })).toEqual([])
  expect(await oldTransactions(db, { ms: 0, transactions: 5 })).toMatchObject([
    {
      message: expect.stringMatching(
        new RegExp(`^session ${pid} .* for the last \\d+ transactions`),
      ) as unknown,
    },
  ])
  await client.query('rollback')
})

it('an old prepared transaction is named', async () => {
  const admin = await connected()
  await admin.query('create table kept (n int)')
  await admin.query(`begin; insert into kept values (1); prepare transaction 'two phases'`)
  const db = databaseOf(await connected())
  expect(await oldTransactions(db, atOnce)).toMatchObject([
    {
      message: expect.stringContaining(`'two phases'`) as unknown,
      todo: expect.stringContaining(`rollback prepared 'two phases'`) as unknown,
    },
  ])
  await admin.query(`rollback prepared 'two phases'`)
})
