import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { PostgresServer } from '../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../test/fixtures/postgres-store.js'
import { systemClock } from '../../time/clock.js'
import { aJob, aRun, aRunOf, t0 } from '../conformance/stage.js'
import type { Claim, Store } from '../port.js'
import { openPostgresStore } from './postgres-store.js'

let server: PostgresServer
let stores: PostgresStores
let opened: Store[]

const second = 1000
const limit = { max: 10, perMs: 10 * second, burst: 4 }

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

beforeEach(async () => {
  const url = stores.fresh()
  opened = []
  for (const id of ['a', 'b', 'c', 'd']) {
    const store = await openPostgresStore({ url, clock: systemClock })
    opened.push(store)
    await store.register({ id, host: 'here', pid: 1, version: '0', now: t0, leaseMs: 600 * second })
  }
})

afterEach(async () => {
  for (const store of opened) await store.close()
})

/** The claims of workers of four processes at the same moment. */
async function claimAtOnce(jobs: readonly string[], now: number): Promise<Claim[]> {
  const turns = opened.map((store, i) =>
    store.turn({
      worker: 'abcd'[i] as string,
      now,
      finished: [],
      claimRequest: { jobs, slots: 20, prefetch: 20, prefetchLimited: 10 },
    }),
  )
  return (await Promise.all(turns)).flatMap(({ claims }) => claims)
}

it('four processes that claim at the same moment start as many runs as the limits allow', async () => {
  const [store] = opened as [Store]
  const jobs = [
    aJob('limited', { limit }),
    aJob('keyed', { limitPerKey: limit, concurrencyPerKey: 50 }),
    aJob('queued', { queue: 'q' }),
    aJob('beside', { queue: 'q' }),
    aJob('free'),
  ]
  const [, keyed] = jobs as [unknown, (typeof jobs)[number]]
  const queues = [{ name: 'q', concurrency: undefined, limit }]
  await store.defineJobs({ source: 'code:test', jobs, queues, now: t0 })
  const names = jobs.map(({ name }) => name)
  const runs = Array.from({ length: 30 }, (_, i) => [
    aRun(`limited${i}`, { job: 'limited' }),
    aRunOf(keyed, `keyed${i}`, { concurrencyKey: i % 2 === 0 ? 'x' : 'y' }),
    aRun(`queued${i}`, { job: i % 2 === 0 ? 'queued' : 'beside' }),
    aRun(`free${i}`, { job: 'free' }),
  ])
  await store.enqueue({ runs: runs.flat(), now: t0 })
  const claims: Claim[] = []
  for (let at = 0; at <= 5 * second; at += 100) claims.push(...(await claimAtOnce(names, t0 + at)))
  const started = (...of: string[]): number => claims.filter(({ job }) => of.includes(job)).length
  // Four immediately, and one in each second after that.
  expect(started('limited')).toBe(9)
  expect(started('keyed')).toBe(18)
  expect(started('queued', 'beside')).toBe(9)
  expect(started('free')).toBe(30)
  expect(new Set(claims.map(({ run }) => run)).size).toBe(claims.length)
})
