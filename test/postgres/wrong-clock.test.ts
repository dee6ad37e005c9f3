import { afterAll, beforeAll, expect, it } from 'vitest'
import { rota } from '../../src/index.js'
import { systemClock, type Clock } from '../../src/time/clock.js'
import { PostgresServer } from '../fixtures/postgres.js'
import { PostgresStores } from '../fixtures/postgres-store.js'

let server: PostgresServer
let stores: PostgresStores

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

const hour = 3_600_000

it('hosts whose clocks are wrong by an hour plan and perform when the database says, and lose no lease', async () => {
  const store = stores.fresh()
  const begun: number[] = []
  const lost: string[] = []
  let isEnough: () => void = () => undefined
  const enough = new Promise<void>((resolve) => {
    isEnough = resolve
  })
  const apps = [hour, -hour].map((wrongBy) => {
    const app = rota({ store, app: 'hosts', clock: wrong(wrongBy), lease: '2s' })
    app.job('note', (run: { dueAt: Date }) => {
      begun.push(run.dueAt.getTime())
      if (begun.length >= 12) isEnough()
    })
    app.schedule('often', { job: 'note', every: '250ms', overlap: 'allow', catchUp: 'all' })
    app.on('run:lost', ({ run }) => lost.push(run))
    return app
  })
  const startAt = await serverTime()
  for (const app of apps) await app.start()
  await enough
  for (const app of apps) await app.stop()
  const endAt = await serverTime()
  expect(begun.filter((at) => at < startAt - 1000 || at > endAt)).toEqual([])
  expect(new Set(begun).size).toBe(begun.length)
  expect(lost).toEqual([])
}, 60_000)

function wrong(byMs: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + byMs }
}

async function serverTime(): Promise<number> {
  const sql = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as at'
  const { rows } = await stores.client.query<{ at: number }>(sql)
  return rows[0]?.at ?? 0
}
