import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { rota, type Rota } from '../../src/index.js'
import { randomOperations } from '../../src/store/conformance/random-operations.js'
import { aJob, aRun, Stage, t0 } from '../../src/store/conformance/stage.js'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.js'
import type { Store } from '../../src/store/port.js'
import { systemClock } from '../../src/time/clock.js'
import { Pooler } from '../fixtures/pooler.js'
import { PostgresServer } from '../fixtures/postgres.js'
import { PostgresStores } from '../fixtures/postgres-store.js'

/** Fewer than the connections of one process. */
const poolSize = 3

let server: PostgresServer
let stores: PostgresStores
let pooler: Pooler
let pooled: string

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

beforeEach(async () => {
  const before = await Pooler.before(stores.database, poolSize)
  pooler = before.pooler
  pooled = before.url
})

afterEach(() => pooler.close())

/** The address of a store behind the pooler. */
function behind(url: string, more: Readonly<Record<string, string>> = {}): string {
  const address = new URL(pooled)
  const schema = new URL(url).searchParams.get('schema') ?? ''
  for (const [name, value] of Object.entries({ schema, ...more })) address.searchParams.set(name, value)
  return address.href
}

function open(url: string): Promise<Store> {
  return openPostgresStore({ url, clock: systemClock })
}

randomOperations(() => stores.open((url) => behind(url)), 4)

it('G2–G6: two hosts behind a pooler perform everything once, and leave nothing in its sessions', async () => {
  const store = behind(stores.fresh(), { listen: stores.database })
  const performed: string[] = []
  const [one, other] = [host(), host()]
  await one.start()
  await other.start()
  const runs = await Promise.all(
    Array.from({ length: 60 }, (_, i) => {
      const options = i % 5 === 0 ? { uniqueKey: `k${i}` } : {}
      return (i % 2 === 0 ? one : other).enqueue(i % 3 === 0 ? 'narrow' : 'wide', i, options)
    }),
  )
  for (const { id } of runs) expect((await one.runs.wait(id)).state).toBe('done')
  await one.stop()
  await other.stop()
  expect(new Set(performed).size).toBe(performed.length)
  expect(runs.filter(({ id }) => !performed.includes(id))).toEqual([])
  expect(await pooler.leftovers()).toEqual([])
  expect(pooler.handovers).toBeGreaterThan(60)

  function host(): Rota {
    const app = rota({ store, app: 'hosts', lease: '5s' })
    const note = (run: { id: string }): void => void performed.push(run.id)
    app.job('wide', note)
    app.job('narrow', note, { concurrency: 1 })
    app.schedule('often', { job: 'wide', every: '100ms' })
    return app
  }
}, 30_000)

it('hints arrive on a separate connection, if its address is given', async () => {
  const direct = stores.fresh()
  const [speaker, hearer] = [
    await open(behind(direct)),
    await open(behind(direct, { listen: stores.database })),
  ]
  const hints: (() => void)[] = []
  const next = (): Promise<void> => new Promise((resolve) => hints.push(resolve))
  const listening = next()
  const unwatch = hearer.watch(() => hints.shift()?.())
  await listening
  const told = next()
  await speaker.defineJobs({ source: 'code:test', jobs: [aJob('work')], queues: [], now: t0 })
  await told
  unwatch()
  expect((await hearer.health({ now: t0 })).warnings).toEqual([])
  await Promise.all([speaker.close(), hearer.close()])
  expect(await pooler.leftovers()).toEqual([])
})

it('without that address no process listens, everything else works, and doctor says what to add', async () => {
  const app = rota({ store: behind(stores.fresh()), app: 'deaf' })
  app.job('work', () => undefined)
  await app.start()
  const { id } = await app.enqueue('work')
  expect((await app.runs.wait(id)).state).toBe('done')
  const findings = await app.doctor()
  expect(findings.filter(({ level }) => level !== 'ok')).toMatchObject([
    { check: 'store', level: 'warn', todo: expect.stringContaining('listen=') as unknown },
  ])
  await app.stop()
  expect(await pooler.leftovers()).toEqual([])
})

it('prepare=on is refused with advice if statements cannot stay prepared', async () => {
  const direct = stores.fresh()
  await (await open(direct)).close()
  await expect(useAWhile(behind(direct, { prepare: 'on' }))).rejects.toMatchObject({
    code: 'STORE_URL',
    message: expect.stringContaining('prepare=on') as unknown,
  })
})

async function useAWhile(url: string): Promise<void> {
  const store = await open(url)
  const stage = new Stage({ store, reopen: () => open(url), dispose: () => store.close() })
  try {
    await stage.ready()
    for (let i = 0; i < 10; i++) await stage.enqueue([aRun(`r${i}`)])
  } finally {
    await store.close()
  }
}
