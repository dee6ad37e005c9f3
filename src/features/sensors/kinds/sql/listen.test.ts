import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Client } from 'pg'
import { PostgresServer } from '../../../../../test/fixtures/postgres.js'
import { root } from '../../../../../test/repository.js'
import { systemClock, type Clock } from '../../../../time/clock.js'
import { sqlChangeSensor } from './change.js'
import { Listener } from './listen.js'

let server: PostgresServer
let url: string
let client: Client

beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(() => server.stop())
beforeEach(async () => {
  url = await server.createDatabase()
  client = await server.connect(url)
})

describe('F11: a notification of Postgres', () => {
  it('F11: wakes the sensor immediately, as does the start of listening', async () => {
    const { watch, config } = sqlChangeSensor({ url, query: 'select 1', listen: 'new "data"' })
    const hints = counter()
    const stop = watch?.(hints.count, config)
    await hints.reached(1)
    await client.query('notify "new ""data"""')
    await hints.reached(2)
    stop?.()
    await ended()
  })

  it('F11: comes from the trigger that the guide shows, when its transaction commits', async () => {
    const page = await readFile(join(root, 'docs/guides/sensors/sql.md'), 'utf8')
    const [, sql = ''] = /```sql\n([^]*?)```/.exec(page) ?? []
    await client.query(`create table orders (id integer); ${sql}`)
    const { watch, config } = sqlChangeSensor({ url, query: 'select 1', listen: 'orders_changed' })
    const hints = counter()
    const stop = watch?.(hints.count, config)
    await hints.reached(1)
    await client.query('insert into orders values (1)')
    await hints.reached(2)
    stop?.()
    await ended()
  })

  it('F11: wakes it again after the connection broke, and what was missed is a hint too', async () => {
    const hints = counter()
    const waits: number[] = []
    // Delays are recorded, and end immediately.
    const clock: Clock = {
      ...systemClock,
      timer: (ms, fire) => {
        waits.push(ms)
        return systemClock.timer(1, fire, { isIdle: true })
      },
    }
    const listener = new Listener({ url, channel: 'data', hint: hints.count, clock })
    listener.start()
    await hints.reached(1)
    await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'rota listener'",
    )
    await hints.reached(2)
    await client.query('notify data')
    await hints.reached(3)
    await server.restart()
    await hints.reached(4)
    listener.stop()
    expect(waits[0]).toBe(1000)
    expect(Math.max(...waits)).toBeLessThanOrEqual(30_000)
    client = await server.connect(url)
    await ended()
  })

  it('F11: reconnects after longer and longer delays while there is no server, up to half a minute', async () => {
    const waits: number[] = []
    const enough = new Promise<void>((resolve) => {
      const clock: Clock = {
        ...systemClock,
        timer: (ms, fire) => {
          waits.push(ms)
          if (waits.length < 8) return systemClock.timer(1, fire)
          resolve()
          return () => undefined
        },
      }
      const away = 'postgres://nobody@127.0.0.1:1/nothing'
      new Listener({ url: away, channel: 'data', hint: () => undefined, clock }).start()
    })
    await enough
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  })

  it('F11: does not keep a process alive', async () => {
    const program = `
      import { Client } from 'pg'
      const { Listener } = await import(process.argv[1])
      const { systemClock } = await import(process.argv[2])
      const client = new Client({ connectionString: process.argv[3] })
      await client.connect()
      await new Promise((hint) => {
        new Listener({ url: process.argv[3], channel: 'data', hint, clock: systemClock }).start()
      })
      console.log('listening')
      await client.end()`
    const dist = (path: string): string => join(root, 'dist', path)
    const child = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        program,
        dist('features/sensors/kinds/sql/listen.js'),
        dist('time/clock.js'),
        url,
      ],
      { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
    )
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number]
    expect([code, output]).toEqual([0, 'listening\n'])
  })
})

/** Counts hints, and lets a test wait for the nth. */
function counter(): { count: () => void; reached: (n: number) => Promise<void> } {
  let hints = 0
  const waiting = new Set<() => void>()
  return {
    count: () => {
      hints += 1
      for (const look of waiting) look()
    },
    reached: (n) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (hints < n) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
  }
}

/** Resolves when the server has no listener any more. */
async function ended(): Promise<void> {
  const query = "select 1 from pg_stat_activity where application_name = 'rota listener'"
  while ((await client.query(query)).rows.length > 0) await client.query('select pg_sleep(0.01)')
}
