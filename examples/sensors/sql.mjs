// The two SQL sensors on a SQLite file, polled by hand to show what they find; see docs/guides/sensors/sql.md.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { sqlChangeSensor, sqlRowsSensor } from 'rota/sensors'

const directory = mkdtempSync(join(tmpdir(), 'rota-sql-'))
const path = join(directory, 'shop.db')
const shop = new DatabaseSync(path)
shop.exec('create table orders (id integer primary key, updated_at text, region text)')

// One value: the time of the last change.
const changes = sqlChangeSensor({
  url: `sqlite:${path}`,
  query: 'SELECT MAX(updated_at) FROM orders',
  partition: (updatedAt) => String(updatedAt).slice(0, 10),
})

// Every row: each change of an order, in the order of (updated_at, id).
const orders = sqlRowsSensor({
  url: `sqlite:${path}`,
  table: 'orders',
  cursor: { value: 'updated_at', id: 'id' },
  partition: 'region',
})

const states = new Map()

async function poll(name, { sensor, config }) {
  const state = states.get(name) ?? (await sensor.init(config)).state
  const signal = AbortSignal.timeout(10_000)
  const result = await sensor.poll(state, { config, now: new Date(), timezone: 'UTC', signal })
  states.set(name, result.state)
  const found =
    result.kind === 'trigger' ? result.observations.map((one) => one.partition).join(', ') : result.reason
  console.log(`${name}: ${found}`)
}

await poll('changes', changes)
shop.exec(`insert into orders values
  (1, '2026-01-15T10:00:00Z', 'north'),
  (2, '2026-01-15T10:00:00Z', 'south')`)
await poll('changes', changes)
await poll('orders', orders)
// The same time as the greatest one: the greatest value does not change, but there is a new row.
shop.exec(`insert into orders values (3, '2026-01-15T10:00:00Z', 'west')`)
await poll('changes', changes)
await poll('orders', orders)

shop.close()
rmSync(directory, { recursive: true })
