import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aJob, aRun, outcomes, t0 } from '../../src/store/conformance/stage.js'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.js'
import type { Store } from '../../src/store/port.js'
import { systemClock } from '../../src/time/clock.js'
import { PostgresServer } from '../fixtures/postgres.js'
import { PostgresStores } from '../fixtures/postgres-store.js'
import { Proxy, type Cut } from '../fixtures/proxy.js'

let server: PostgresServer
let proxy: Proxy
let store: Store
let count = 0

beforeAll(async () => {
  server = await PostgresServer.start()
  const stores = await PostgresStores.on(server)
  const behind = await Proxy.before(stores.fresh())
  proxy = behind.proxy
  store = await openPostgresStore({ url: behind.url, clock: systemClock })
  await store.defineJobs({ source: 'code:test', jobs: [aJob('work')], queues: [], now: t0 })
  await store.register({ id: 'w', host: 'here', pid: 1, version: '0', now: t0, leaseMs: 60_000 })
})

afterAll(async () => {
  await store.close()
  await proxy.close()
  await server.stop()
})

/** Every message of a commit with a few statements, and some of what comes after it. */
const cuts: Cut[] = Array.from({ length: 8 }, (_, i) => i + 1).flatMap((at) => [
  { at, when: 'before' },
  { at, when: 'answered' },
])

describe.each(cuts)('a connection that is cut at message $at, $when', (cut) => {
  it('G3: loses and duplicates no run', async () => {
    const runs = Array.from({ length: 3 }, () => aRun(`cut${++count}`, { job: 'idle' }))
    proxy.cutAt(cut)
    const answers = await Promise.all(runs.map((run) => store.enqueue({ runs: [run], now: t0 })))
    expect(answers.flat()).toEqual(runs.map(({ id }) => ({ id, created: true })))
    for (const { id } of runs) expect((await store.run(id))?.state).toBe('pending')
  })

  it('G5: gives the worker every claimed run, and stores every end once', async () => {
    const runs = Array.from({ length: 4 }, () => aRun(`cut${++count}`))
    await store.enqueue({ runs, now: t0 })
    proxy.cutAt(cut)
    const claimRequest = { jobs: ['work'], slots: 10, prefetch: 0 }
    const first = await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
    expect(first.claims.map(({ run }) => run).toSorted()).toEqual(runs.map(({ id }) => id).toSorted())
    const finished = first.claims.map(({ run, attempt }) => {
      return { run, attempt, outcome: outcomes.done, startedAt: t0, endedAt: t0 }
    })
    proxy.cutAt(cut)
    const second = await store.turn({ worker: 'w', now: t0, finished, claimRequest })
    expect(second.finished).toEqual(runs.map(() => 'stored'))
    const { running } = await store.counts()
    expect(running).toBe(0)
  })
})

it('the cuts were made', () => {
  expect(proxy.cuts).toBeGreaterThan(15)
})
