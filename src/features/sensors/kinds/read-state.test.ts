import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sqliteDatabases, type Databases } from '../../../../test/fixtures/databases.js'
import type { Json } from '../../../kernel/definition/json.js'
import type { ConfiguredSensor } from '../sensor.js'
import { filesSensor } from './files/sensor.js'
import { httpSensor } from './http/sensor.js'
import { stateFaults } from './read-state.js'
import { sqlChangeSensor } from './sql/change.js'
import { sqlRowsSensor } from './sql/rows.js'
import { webhookSensor } from './webhook/sensor.js'

const now = Date.UTC(2026, 0, 15, 12)
let databases: Databases
let url: string
let directory: string

beforeAll(async () => {
  databases = await sqliteDatabases()
  const database = await databases.create()
  ;({ url } = database)
  await database.run('create table orders (id integer primary key, at integer)')
  await database.run('insert into orders values (1, 10), (2, 20), (3, 30)')
  directory = mkdtempSync(join(tmpdir(), 'rota-states-'))
  for (const name of ['a', 'b', 'c']) writeFileSync(join(directory, `${name}.csv`), name)
})

afterAll(async () => {
  await databases.stop()
  rmSync(directory, { recursive: true })
})

/** Every state of a sensor over some polls. */
async function statesOf(configured: ConfiguredSensor): Promise<readonly Json[]> {
  const { sensor, config } = configured
  const begun = await sensor.init(config)
  if (begun.kind === 'error') throw new Error(begun.reason)
  const states = [begun.state]
  for (let i = 0; i < 3; i++) {
    const context = {
      config,
      now: new Date(now + i * 1000),
      timezone: 'UTC',
      signal: new AbortController().signal,
    }
    const { kind, state } = await sensor.poll(states.at(-1) as Json, context)
    expect(kind).not.toBe('error')
    states.push(state)
  }
  return states
}

describe('the state of a built-in sensor', () => {
  it('is accepted as the sensor wrote it, also in the middle of a sweep', async () => {
    const server = createServer((_, response) => {
      response
        .setHeader('etag', '"1"')
        .setHeader('content-type', 'application/json')
        .end('{"ready":true,"partition":"x"}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const sensors: Readonly<Record<string, ConfiguredSensor>> = {
      files: filesSensor({ glob: '*.csv', directory, settle: 0 }),
      'sql-rows': sqlRowsSensor({ url, table: 'orders', cursor: { value: 'at', id: 'id' }, limit: 1 }),
      sql: sqlChangeSensor({ url, query: 'select max(at) from orders' }),
      http: httpSensor({ url: `http://127.0.0.1:${port}/` }),
      webhook: webhookSensor({ secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}` }),
    }
    for (const [type, configured] of Object.entries(sensors)) {
      const states = await statesOf(configured)
      expect([type, states.map((state) => stateFaults(type, state))]).toEqual([type, [[], [], [], []]])
    }
    server.close()
  })

  it('of rows is also accepted for the type sql, which code uses', async () => {
    const rows = sqlRowsSensor({ url, table: 'orders', cursor: { value: 'at', id: 'id' } })
    const [, state] = await statesOf(rows)
    expect([rows.type, stateFaults(rows.type, state)]).toEqual(['sql', []])
  })

  it.each([
    ['files', 7, ['state: 7 is not a map']],
    ['s3', null, ['state: null is not a map']],
    [
      'files',
      { line: 0 },
      ['state: it cannot have line', 'state: it is missing source, sweeps, floorAt, present, freshAt'],
    ],
    ['http', { etag: 7, hasLooked: 'yes' }, ['state.hasLooked: "yes" is neither', 'state.etag: 7 is not a']],
    ['sql', { value: 'x' }, ['state.value: "x" is not a map']],
    ['sql-rows', { sweeps: null, recent: [1] }, ['state.recent[0]: 1 is not a text']],
    ['webhook', {}, ['state: a map is not null']],
  ])('of type %s refuses %j', (type, state, told) => {
    const faults = stateFaults(type, state)
    expect(faults.map(({ path, message }) => `${path}: ${message}`)).toEqual(
      told.map((text) => expect.stringContaining(text) as string),
    )
  })

  it('of any other type is not checked', () => {
    expect(stateFaults('custom', 7)).toEqual([])
  })
})
