import type { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sqliteDatabases, type Databases } from '../../../../../test/fixtures/databases.js'
import { PostgresServer } from '../../../../../test/fixtures/postgres.js'
import type { Observation, PollResult } from '../../sensor.js'
import { sqlChangeSensor } from './change.js'
import { sqlRowsSensor, type SqlRowsState } from './rows.js'
import type { SqlRowsOptions } from './rows-options.js'

const start = Date.UTC(2026, 0, 15, 12)
const second = 1000
const cursor = { value: 'updated_at', id: 'id' }

let sqlite: Databases
let postgres: PostgresServer

beforeAll(async () => {
  sqlite = await sqliteDatabases()
  postgres = await PostgresServer.start()
})
afterAll(async () => {
  await sqlite.stop()
  await postgres.stop()
})

describe.each(['SQLite', 'Postgres'] as const)('F7: a row cursor on %s', (kind) => {
  let url: string
  let run: (sql: string) => Promise<void>

  beforeAll(async () => {
    if (kind === 'SQLite') ({ url, run } = await sqlite.create())
    else {
      url = await postgres.createDatabase()
      const client = await postgres.connect(url)
      run = async (sql) => void (await client.query(sql))
    }
  })

  beforeEach(async () => {
    await run('drop table if exists orders')
    await run('create table orders (id integer primary key, updated_at integer, region text)')
  })

  it('F7: finds every row once, with the row as payload', async () => {
    const watch = watcher({ url, table: 'orders', cursor })
    await run("insert into orders values (1, 10, 'north'), (2, 20, 'south')")
    expect(await watch.poll()).toEqual([
      { key: '1@10', partition: '2026-01-15', payload: { id: 1, updated_at: 10, region: 'north' } },
      { key: '2@20', partition: '2026-01-15', payload: { id: 2, updated_at: 20, region: 'south' } },
    ])
    expect(await watch.poll()).toEqual([])
    await run("insert into orders values (3, 30, 'west')")
    expect(keysOf(await watch.poll())).toEqual(['3@30'])
  })

  it('F7: finds a row with the same value as the greatest, whatever its id', async () => {
    await run("insert into orders values (5, 10, 'a')")
    const watch = watcher({ url, table: 'orders', cursor })
    expect(keysOf(await watch.poll())).toEqual(['5@10'])
    await run("insert into orders values (7, 10, 'b'), (3, 10, 'c')")
    expect(keysOf(await watch.poll())).toEqual(['3@10', '7@10'])
  })

  it('F7: finds a changed row again, unless per is row', async () => {
    const changes = watcher({ url, table: 'orders', cursor })
    const rows = watcher({ url, table: 'orders', cursor, per: 'row' })
    await run("insert into orders values (1, 10, 'a')")
    expect([keysOf(await changes.poll()), keysOf(await rows.poll())]).toEqual([['1@10'], ['1']])
    await run('update orders set updated_at = 20')
    expect([keysOf(await changes.poll()), keysOf(await rows.poll())]).toEqual([['1@20'], []])
  })

  it('F7: reads page by page, and returns that there is more', async () => {
    const values = Array.from({ length: 25 }, (_, i) => `(${i}, ${Math.floor(i / 10)}, 'x')`)
    await run(`insert into orders values ${values.join(', ')}`)
    const watch = watcher({ url, table: 'orders', cursor, limit: 10 })
    expect([await watch.page(), await watch.page(), await watch.page()]).toMatchObject([
      { more: true, observations: { length: 10 } },
      { more: true, observations: { length: 10 } },
      { more: false, observations: { length: 5 } },
    ])
    expect(watch.keys.size).toBe(25)
  })

  it('F7: has a small JSON state, whatever was read', async () => {
    const values = Array.from({ length: 5000 }, (_, i) => `(${i}, ${i}, 'x')`)
    await run(`insert into orders values ${values.join(', ')}`)
    const watch = watcher({ url, table: 'orders', cursor, limit: 2000 })
    await watch.poll()
    expect(watch.keys.size).toBe(5000)
    expect(JSON.stringify(watch.state()).length).toBeLessThan(16_384)
  })

  it('F7: takes its partition from a column or a function', async () => {
    await run("insert into orders values (1, 10, 'north')")
    const byColumn = watcher({ url, table: 'orders', cursor, partition: 'region' })
    const byRow = watcher({ url, table: 'orders', cursor, partition: (row) => `${String(row['region'])}-1` })
    expect(await byColumn.poll()).toMatchObject([{ partition: 'north' }])
    expect(await byRow.poll()).toMatchObject([{ partition: 'north-1' }])
  })

  it('F7: continues after a row without a partition, reports it once, and retries it until it has one', async () => {
    const watch = watcher({ url, table: 'orders', cursor, partition: 'region', lookBack: '1m' })
    await run("insert into orders values (1, 10, 'north'), (2, 20, null), (3, 30, 'south')")
    const reason = 'row 2@20 cannot be reported: the partition is missing'
    expect(await watch.page()).toMatchObject({ kind: 'trigger', more: true, observations: { length: 2 } })
    expect(await watch.page()).toMatchObject({ kind: 'error', reason })
    expect(await watch.page()).toMatchObject({ kind: 'no-trigger', reason: 'no new rows' })
    watch.wait(3600 * second)
    for (let i = 0; i < 3; i++) expect(await watch.poll()).toEqual([])
    await run("insert into orders values (4, 40, 'west')")
    expect(keysOf(await watch.poll())).toEqual(['4@40'])
    await run("update orders set region = 'east' where id = 2")
    expect(await watch.poll()).toMatchObject([{ key: '2@20', partition: 'east' }])
    expect(watch.state().failing).toEqual([])
  })

  it('F7: forgets a row that could not be reported once it is removed or changed', async () => {
    const watch = watcher({ url, table: 'orders', cursor, partition: 'region' })
    await run('insert into orders values (1, 10, null), (2, 20, null)')
    expect(await watch.page()).toMatchObject({ kind: 'error' })
    await run('delete from orders where id = 1')
    await run("update orders set updated_at = 30, region = 'north' where id = 2")
    expect(keysOf(await watch.poll())).toEqual(['2@30'])
    expect(watch.state().failing).toEqual([])
  })

  it('F7: waits if more than 20 rows cannot be reported, and loses none of them', async () => {
    const values = Array.from({ length: 25 }, (_, i) => `(${i + 1}, ${i + 1}, null)`)
    await run(`insert into orders values ${values.join(', ')}, (26, 26, 'north')`)
    const watch = watcher({ url, table: 'orders', cursor, partition: 'region', limit: 10 })
    for (let i = 0; i < 3; i++) expect((await watch.page()).kind).not.toBe('trigger')
    const reason =
      'row 21@21 cannot be reported: the partition is missing; nor can 20 others, so the rest waits'
    for (let i = 0; i < 2; i++) expect(await watch.page()).toMatchObject({ kind: 'error', reason })
    await run("update orders set region = 'south'")
    expect(new Set(keysOf(await watch.poll())).size).toBe(26)
  })

  it('F7: reads the columns or the query that it is given', async () => {
    await run("insert into orders values (1, 10, 'north'), (2, 20, 'south'), (3, null, 'south')")
    const narrow = watcher({ url, table: 'orders', columns: ['region'], cursor: { value: 'id', id: 'id' } })
    expect((await narrow.poll()).map(({ payload }) => payload)).toEqual([
      { id: 1, region: 'north' },
      { id: 2, region: 'south' },
      { id: 3, region: 'south' },
    ])
    const query = "select * from orders where region = 'south' -- only those\n;"
    expect(keysOf(await watcher({ url, query, cursor }).poll())).toEqual(['2@20'])
    expect(await watcher({ url, query: 'select 1 as id', cursor }).page()).toMatchObject({ kind: 'error' })
  })

  it('F7: starts after the existing rows with startFrom now', async () => {
    await run("insert into orders values (1, 10, 'a'), (2, 10, 'b')")
    const watch = watcher({ url, table: 'orders', cursor, startFrom: 'now' })
    expect(await watch.poll()).toEqual([])
    expect(await watch.poll()).toEqual([])
    await run("insert into orders values (3, 10, 'c'), (4, 5, 'too old')")
    expect(keysOf(await watch.poll())).toEqual(['3@10'])
  })

  it('F7: keeps its state if a poll fails, and continues', async () => {
    const watch = watcher({ url, table: 'orders', cursor })
    await run("insert into orders values (1, 10, 'a')")
    await watch.poll()
    await run('alter table orders rename to away')
    const before = watch.state()
    expect(await watch.page()).toMatchObject({ kind: 'error', state: before })
    await run('alter table away rename to orders')
    await run("insert into orders values (2, 11, 'a')")
    expect(keysOf(await watch.poll())).toEqual(['2@11'])
  })
})

describe('F7: rows of two Postgres transactions that commit out of order', () => {
  let url: string
  let first: Client
  let later: Client

  beforeEach(async () => {
    url = await postgres.createDatabase()
    ;[first, later] = [await postgres.connect(url), await postgres.connect(url)]
    await first.query(
      'create table source_data (id bigserial primary key, updated_at timestamptz not null default now())',
    )
  })

  it('F7: are both found by the cursor; the greatest updated_at finds one of them', async () => {
    const rows = watcher({ url, table: 'source_data', cursor })
    const query = 'select max(updated_at) from source_data'
    const greatest = sqlChangeSensor({ url, query })
    let changes = 0
    const look = async (): Promise<void> => {
      await rows.poll()
      const context = { config: greatest.config, now: new Date(start), timezone: 'UTC', signal: never }
      const result = await greatest.sensor.poll(changeState, context)
      if (result.kind === 'trigger') changes += 1
      changeState = result.state
    }
    let changeState = {}
    await look()
    await first.query('begin')
    await first.query('insert into source_data default values')
    // Later by its time, and committed first.
    await later.query('insert into source_data default values')
    await look()
    expect([rows.keys.size, changes]).toEqual([1, 1])
    await first.query('commit')
    await look()
    expect([rows.keys.size, changes]).toEqual([2, 1])
  })

  it('F7: are found within the look-back, also after a long pause, and ids alone would miss them', async () => {
    const rows = watcher({ url, table: 'source_data', cursor: { value: 'id', id: 'id' }, lookBack: '1m' })
    await later.query('insert into source_data default values')
    await rows.poll()
    for (let i = 0; i < 20; i++) await rows.poll()
    await first.query('begin')
    await first.query('insert into source_data default values')
    await later.query('insert into source_data default values')
    await rows.poll()
    expect(rows.keys).toEqual(new Set(['1@1', '3@3']))
    await first.query('commit')
    rows.wait(24 * 3600 * second)
    await rows.poll()
    expect(rows.keys).toEqual(new Set(['1@1', '2@2', '3@3']))
  })

  it('F7: without a look-back the late one is missed, as documented', async () => {
    const rows = watcher({ url, table: 'source_data', cursor, lookBack: 0 })
    await first.query('begin')
    await first.query('insert into source_data default values')
    await later.query('insert into source_data default values')
    await rows.poll()
    await first.query('commit')
    await rows.poll()
    expect(rows.keys.size).toBe(1)
  })

  it('F7: belong to the day of their own instant, to the microsecond of their keys', async () => {
    await first.query("insert into source_data values (1, '2026-01-14 23:30:00.123456Z')")
    expect(await watcher({ url, table: 'public.source_data', cursor }).poll()).toMatchObject([
      { key: '1@2026-01-14T23:30:00.123456Z', partition: '2026-01-14' },
    ])
  })
})

it('F7: reports all faults of its settings together', () => {
  const options = { cursor: { value: 'a' }, lookBack: '1y', limit: 0, per: 'rows', partition: 7 }
  const make = (): unknown => sqlRowsSensor(options as unknown as SqlRowsOptions)
  for (const part of ['cursor:', 'lookBack:', 'limit:', 'per:', 'partition:', 'either table or query']) {
    expect(make).toThrow(part)
  }
})

const never = new AbortController().signal

/** A sensor that is polled every ten seconds, and a set of seen keys in place of the store. */
function watcher(options: SqlRowsOptions): {
  readonly keys: Set<string>
  state(): SqlRowsState
  wait(ms: number): void
  page(): Promise<PollResult<SqlRowsState>>
  poll(): Promise<Observation[]>
} {
  const { sensor, config } = sqlRowsSensor(options)
  const keys = new Set<string>()
  let state: SqlRowsState = { sweeps: null, recent: [] }
  let now = start
  const page = async (): Promise<PollResult<SqlRowsState>> => {
    now += 10 * second
    const result = await sensor.poll(state, { config, now: new Date(now), timezone: 'UTC', signal: never })
    state = JSON.parse(JSON.stringify(result.state)) as SqlRowsState
    if (result.kind === 'trigger') for (const { key } of result.observations) keys.add(key)
    return result
  }
  const poll = async (): Promise<Observation[]> => {
    const before = new Set(keys)
    const result = await page()
    if (result.kind === 'error') throw new Error(result.reason)
    const found = result.kind === 'trigger' ? result.observations.filter(({ key }) => !before.has(key)) : []
    return result.more === true ? [...found, ...(await poll())] : found
  }
  return { keys, state: () => state, wait: (ms) => void (now += ms), page, poll }
}

function keysOf(observations: readonly Observation[]): string[] {
  return observations.map(({ key }) => key)
}
