import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  postgresDatabases,
  sqliteDatabases,
  type Databases,
  type TestDatabase,
} from '../../../../../test/fixtures/databases.js'
import { openStore } from '../../../../app/store/open-store.js'
import type { PollResult } from '../../sensor.js'
import { systemClock } from '../../../../time/clock.js'
import { sqlChangeSensor, type SqlChangeOptions, type SqlChangeState } from './change.js'
import { absoluteUrl } from '../../../../formats/store-url.js'
import { onOwnDatabase } from '../../types.js'

const now = Date.UTC(2026, 0, 15, 23, 30)
let servers: { readonly SQLite: Databases; readonly Postgres: Databases }

beforeAll(async () => {
  servers = { SQLite: await sqliteDatabases(), Postgres: await postgresDatabases() }
})
afterAll(async () => {
  await servers.SQLite.stop()
  await servers.Postgres.stop()
})

describe.each(['SQLite', 'Postgres'] as const)('F7: a changed value in %s', (kind) => {
  let database: TestDatabase

  beforeAll(async () => {
    database = await servers[kind].create()
  })
  beforeEach(async () => {
    await database.run('drop table if exists source_data')
    await database.run('create table source_data (id integer primary key, updated_at text, n integer)')
  })

  it('F7: is found when the query returns another value', async () => {
    const options = { query: 'SELECT MAX(updated_at) FROM source_data;' }
    const found = await values(options, [
      'select 1',
      "insert into source_data values (1, '2026-01-15T10:00:00Z', 1)",
      'select 1',
      "insert into source_data values (2, '2026-01-14T10:00:00Z', 1)",
      "insert into source_data values (3, '2026-01-15T11:00:00Z', 1)",
    ])
    expect(found).toEqual([undefined, '2026-01-15T10:00:00Z', undefined, undefined, '2026-01-15T11:00:00Z'])
  })

  it('F7: is not an initial NULL, but a value that becomes NULL, and one that comes back', async () => {
    const found = await values({ query: 'select max(n) from source_data' }, [
      'select 1',
      "insert into source_data values (1, '', 5)",
      'delete from source_data',
      'select 1',
      "insert into source_data values (1, '', 5)",
    ])
    expect(found).toEqual([undefined, 5, null, undefined, 5])
  })

  it('F7: has a key of its own each time, the day of the poll in the zone, and the value', async () => {
    const first = await poll({ query: 'select 7' })
    expect(first).toEqual({
      kind: 'trigger',
      observations: [{ key: '2026-01-15T23:30:00Z 7', partition: '2026-01-16', payload: { value: 7 } }],
      state: { value: { type: 'integer', text: '7' } },
    })
  })

  it('F7: is given to the function for the partition', async () => {
    const partition = (value: unknown): string => `n=${String(value)}`
    const result = await poll({ query: 'select 9007199254740993', partition, key: () => 'own' })
    expect(result).toMatchObject({
      observations: [{ key: 'own', partition: 'n=9007199254740993', payload: { value: '9007199254740993' } }],
    })
    const broken = (): never => {
      throw new Error('no idea')
    }
    await expect(poll({ query: 'select 1', partition: broken })).resolves.toEqual({
      kind: 'error',
      reason: 'no idea',
      state: {},
    })
  })

  it('F7: is compared by type: 1 is not the text 1', async () => {
    const first = await poll({ query: 'select 1' })
    await expect(poll({ query: "select cast('1' as text)" }, first.state)).resolves.toMatchObject({
      kind: 'trigger',
      observations: [{ payload: { value: '1' } }],
    })
    await expect(poll({ query: 'select 1' }, first.state)).resolves.toMatchObject({ kind: 'no-trigger' })
  })

  it('F7: is stored as a digest if it is long or a blob', async () => {
    const blob = kind === 'SQLite' ? "x'00ff10'" : "'\\x00ff10'::bytea"
    const first = await poll({ query: `select ${blob}` })
    expect(first.state).toEqual({ value: { type: 'blob', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } })
    await expect(poll({ query: `select ${blob}` }, first.state)).resolves.toMatchObject({
      kind: 'no-trigger',
    })
    const long = await poll({ query: `select '${'x'.repeat(10_000)}'` })
    expect(JSON.stringify(long.state).length).toBeLessThan(200)
  })

  it.each([
    ['select 1 as a, 2 as b', '1 row of 2 columns (a, b)'],
    ['select 1 as a union all select 2', 'more than one rows of 1 column (a)'],
    ['select n from source_data', '0 rows of 1 column (n)'],
  ])('F7: is an error if the query is %s', async (query, reason) => {
    const result = await poll({ query }, { value: { type: 'integer', text: '1' } })
    expect(result).toMatchObject({ kind: 'error', state: { value: { text: '1' } } })
    expect(reasonOf(result)).toBe(`one row of one column was expected; the query returned ${reason}`)
  })

  it.each([
    'insert into source_data values (9, null, 9) returning id',
    'with gone as (delete from source_data returning id) select count(*) from gone',
    'select 1) as a; delete from source_data; select * from (select 1',
    'select 1; delete from source_data',
    'drop table source_data',
  ])('F7: is only read: %s changes nothing', async (query) => {
    await database.run("insert into source_data values (1, '', 1)")
    // Without the check of the settings: the database itself must refuse it.
    const { sensor, config } = sqlChangeSensor({ url: database.url, query: 'select 1' })
    expect(await sensor.poll({}, contextOf({ ...config, query }))).toMatchObject({ kind: 'error' })
    await expect(poll({ query: 'select count(*) from source_data' })).resolves.toMatchObject({
      observations: [{ payload: { value: 1 } }],
    })
  })

  it('F7: a write in its query is named', async () => {
    const gone = 'with gone as (delete from source_data returning id) select count(*) from gone'
    expect(reasonOf(await poll({ query: gone }))).toMatch(/^DELETE writes, and a sensor only reads: /)
    const innocent = "select 'delete from here' as n -- insert into it"
    expect(await poll({ query: innocent })).toMatchObject({ kind: 'trigger' })
    for (const [query, word] of [
      ['/* now */ delete from source_data', 'DELETE'],
      ['Update source_data set n = 1', 'UPDATE'],
      ['-- a table\ndrop table source_data', 'DROP'],
    ] as const) {
      expect(() => sqlChangeSensor({ query })).toThrow(
        `query: ${word} writes, and a sensor only reads (allowed: a SELECT)`,
      )
    }
  })

  it('F7: is an error if the query is wrong, with the previous state', async () => {
    const result = await poll({ query: 'select n from nowhere' }, { value: { type: 'null' } })
    expect(result).toMatchObject({ kind: 'error', state: { value: { type: 'null' } } })
    expect(reasonOf(result)).toMatch(/nowhere/)
  })

  it('F7: is read from the database of the store by default', async () => {
    const bare = sqlChangeSensor({ query: 'select 1' })
    expect(await bare.sensor.init(bare.config)).toMatchObject({ kind: 'error' })
    const { sensor, config } = onOwnDatabase(bare, database.url)
    expect(await sensor.init(config)).toEqual({ kind: 'ok', state: {} })
    expect(await sensor.poll({}, contextOf(config))).toMatchObject({ kind: 'trigger' })
    const files = onOwnDatabase(bare, 'files:data')
    expect(await files.sensor.init(files.config)).toMatchObject({ kind: 'error' })
  })

  it('F7: that exists at the first poll is ignored with startFrom now', async () => {
    const first = await poll({ query: 'select 1', startFrom: 'now' })
    expect(first.kind).toBe('no-trigger')
    await expect(poll({ query: 'select 2', startFrom: 'now' }, first.state)).resolves.toMatchObject({
      kind: 'trigger',
    })
  })

  it('F7: is an error if the poll was aborted', async () => {
    const { sensor, config } = sqlChangeSensor({ query: 'select 1', url: database.url })
    const stopped = { ...contextOf(config), signal: AbortSignal.abort() }
    const result = await sensor.poll({}, stopped)
    expect(reasonOf(result)).toBe('the poll was aborted')
  })

  /** The result of a poll after each of the statements. */
  async function values(options: SqlChangeOptions, statements: readonly string[]): Promise<unknown[]> {
    const found: unknown[] = []
    let state: SqlChangeState = {}
    for (const [index, statement] of statements.entries()) {
      await database.run(statement)
      const result = await poll(options, state, now + index)
      found.push(
        result.kind === 'trigger' ? (result.observations[0].payload as { value: unknown }).value : undefined,
      )
      // The state must survive as JSON.
      state = JSON.parse(JSON.stringify(result.state)) as SqlChangeState
    }
    return found
  }

  async function poll(
    options: SqlChangeOptions,
    state: SqlChangeState = {},
    at = now,
  ): Promise<PollResult<SqlChangeState>> {
    const { sensor, config } = sqlChangeSensor({ url: database.url, ...options })
    return await sensor.poll(state, { ...contextOf(config), now: new Date(at) })
  }
})

describe('F7: a value of Postgres', () => {
  let url: string

  beforeAll(async () => {
    ;({ url } = await servers.Postgres.create())
  })

  it.each([
    ["'2026-01-15 12:00+02'::timestamptz", "'2026-01-15 10:00+00'::timestamptz", 'the same instant'],
    ['1.50::numeric', '1.5::numeric', 'the same number'],
    ['1::int2', '1::int8', 'the same whole number'],
    [`'{"a": 1, "b": 2}'::jsonb`, `'{"b": 2, "a": 1}'::jsonb`, 'the same document'],
  ])('F7: %s is %s: %s', async (a, b) => {
    const first = await poll(`select ${a}`)
    await expect(poll(`select ${b}`, first.state)).resolves.toMatchObject({ kind: 'no-trigger' })
  })

  it.each([
    ["'2026-01-15 10:00:00.000001Z'::timestamptz", "'2026-01-15 10:00:00.000002Z'::timestamptz"],
    ['9007199254740992::int8', '9007199254740993::int8'],
    ['true', '1'],
    ['1.0::float8', '1::int4'],
    ["'2026-01-15'::date", "'2026-01-15'::timestamp"],
    ["''", 'null::text'],
  ])('F7: %s is not %s', async (a, b) => {
    const first = await poll(`select ${a}`)
    await expect(poll(`select ${b}`, first.state)).resolves.toMatchObject({ kind: 'trigger' })
  })

  it('F7: is passed to functions with its type', async () => {
    const seen: unknown[] = []
    const partition = (value: unknown): string => {
      seen.push(value)
      return 'p'
    }
    const texts = ["'2026-01-15 10:00Z'::timestamptz", '5', 'true', '1.25::numeric', '0.5::float8']
    for (const text of [...texts, "'infinity'::timestamptz", "'\\x01'::bytea"]) {
      await poll(`select ${text}`, {}, { partition })
    }
    const instant = new Date(Date.UTC(2026, 0, 15, 10))
    expect(seen).toEqual([instant, 5, true, '1.25', 0.5, 'infinity', Buffer.from([1])])
  })

  it('F7: that takes too long is an error, and the server stops working on it', async () => {
    const result = await poll('select pg_sleep(60)', {}, { timeout: 100 })
    expect(reasonOf(result)).toMatch(/^no answer within 100 ms$|statement timeout/)
  })

  it('F7: of an unreachable database is an error without its password', async () => {
    const away = 'postgres://someone:hunter2@127.0.0.1:1/nothing'
    const result = await poll('select 1', {}, { url: away })
    expect(reasonOf(result)).toContain('ECONNREFUSED')
    expect(JSON.stringify(result)).not.toContain('hunter2')
  })

  async function poll(
    query: string,
    state: SqlChangeState = {},
    options: Partial<SqlChangeOptions> = {},
  ): Promise<PollResult<SqlChangeState>> {
    const { sensor, config } = sqlChangeSensor({ url, query, ...options })
    return await sensor.poll(state, contextOf(config))
  }
})

it('F7: a function of Postgres that writes is named', async () => {
  const { url, run } = await servers.Postgres.create()
  await run('create sequence numbers')
  const { sensor, config } = sqlChangeSensor({ url, query: "select nextval('numbers')" })
  expect(reasonOf(await sensor.poll({}, contextOf(config)))).toBe(
    'a function of the query writes, and a sensor only reads: cannot execute nextval() in a read-only transaction',
  )
})

describe('F7: a value of SQLite', () => {
  it('names the missing file', async () => {
    const { sensor, config } = sqlChangeSensor({ url: 'sqlite:/nowhere/at-all.db', query: 'select 1' })
    const signal = new AbortController().signal
    expect(await sensor.poll({}, { config, now: new Date(0), timezone: 'UTC', signal })).toMatchObject({
      kind: 'error',
      reason: 'there is no database /nowhere/at-all.db',
    })
  })

  it('F7: is waited for while another process writes, without blocking the event loop', async () => {
    const { url, run } = await servers.SQLite.create()
    await run('pragma journal_mode = delete; create table t (n integer); begin exclusive')
    const { sensor, config } = sqlChangeSensor({ url, query: 'select count(*) from t' })
    const polled = sensor.poll({}, contextOf(config))
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
    await run('commit')
    expect(await polled).toMatchObject({ kind: 'trigger', observations: [{ payload: { value: 0 } }] })
  })

  it('F7: is read from a store in use, whose path is relative to the app', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rota-store-'))
    const options = { clock: systemClock, directory, durability: 'normal', create: true } as const
    const store = await openStore('sqlite:rota.db', options)
    const bare = sqlChangeSensor({ query: 'select count(*) from sqlite_schema' })
    const { sensor, config } = onOwnDatabase(bare, absoluteUrl('sqlite:rota.db', directory))
    expect(await sensor.poll({}, contextOf(config))).toMatchObject({ kind: 'trigger' })
    await store.close()
    await rm(directory, { recursive: true })
  })
})

it('F7: reports all faults of its settings together, without showing an address', () => {
  const options = { query: ' ', url: 'mysql://u:hunter2@h/d', partition: 'day', timeout: 0, listen: '' }
  const make = (): unknown => sqlChangeSensor(options as unknown as SqlChangeOptions)
  expect(make).toThrow(/^(?!.*hunter2)the SQL sensor is not valid: /)
  for (const part of ['query:', 'url:', 'partition:', 'timeout:', 'listen:']) expect(make).toThrow(part)
  expect(() => sqlChangeSensor({ query: 'select 1', url: 'sqlite:a.db', listen: 'c' })).toThrow('listen:')
})

function contextOf<C>(config: C): { config: C; now: Date; timezone: string; signal: AbortSignal } {
  return { config, now: new Date(now), timezone: 'Asia/Tokyo', signal: new AbortController().signal }
}

function reasonOf(result: PollResult): string | undefined {
  return result.kind === 'trigger' ? undefined : result.reason
}
