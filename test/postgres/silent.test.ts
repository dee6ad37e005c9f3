import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rota, type Rota } from '../../src/index.js'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.js'
import { systemClock } from '../../src/time/clock.js'
import { PostgresServer } from '../fixtures/postgres.js'
import { PostgresStores } from '../fixtures/postgres-store.js'
import { Proxy } from '../fixtures/proxy.js'

let server: PostgresServer
let stores: PostgresStores

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

const healMs = 10_000

/** Connections stay open, but all data is dropped in both directions. */
describe.concurrent('a connection that stops responding', () => {
  it('is replaced within 10 s, and the lease is kept', async () => {
    const { app, proxy, begun, stop } = await started({ lease: '15s' })
    const lost: string[] = []
    app.on('worker:expired', ({ worker }) => lost.push(worker))
    await app.runs.wait((await app.enqueue('quick')).id)
    await leaseKept(app)
    proxy.silenceOld()
    const healedMs = await tookMs(() => performedOne(app))
    expect(healedMs).toBeLessThan(healMs)
    // Every connection was replaced, the one that listens and the one of the lease among them.
    await until(() => proxy.silent === 0)
    expect(lost).toEqual([])
    expect(new Set(begun).size).toBe(begun.length)
    console.log(`silent old connections healed after ${healedMs} ms`)
    await stop()
  })

  it('G4: a run is aborted at 80 % of the lease, and work continues within 10 s of the return', async () => {
    const { app, proxy, stop } = await started({ lease: '3s' })
    const { id } = await app.enqueue('long')
    await running(app, id)
    await leaseKept(app)
    const aborted = new Promise<number>((resolve) => {
      app.on('worker:expired', () => resolve(systemClock.monotonicMs()))
    })
    proxy.silence()
    const silentMs = systemClock.monotonicMs()
    const afterMs = (await aborted) - silentMs
    // The last renewal was at most a third of the lease earlier, and somewhat more on a busy machine.
    expect(afterMs).toBeGreaterThan(1000)
    expect(afterMs).toBeLessThan(2400 + 500)
    proxy.speak()
    const healedMs = await tookMs(() => performedOne(app))
    expect(healedMs).toBeLessThan(healMs)
    console.log(`aborted after ${Math.round(afterMs)} ms of silence, healed after ${healedMs} ms`)
    const done = await app.runs.wait(id)
    // The process was alive all the time, so nothing counts as a crash.
    expect(done).toMatchObject({ state: 'done', attempt: 2, crashes: 0 })
    expect((await app.runs.attempts(id)).map(({ end }) => end)).toEqual(['released', 'done'])
    await stop()
  })

  it('G5: results of that time are resubmitted until they are stored, once', async () => {
    const { app, proxy, begun, stop } = await started({ lease: '15s' })
    const { id } = await app.enqueue('short')
    await running(app, id)
    await leaseKept(app)
    proxy.silence()
    await new Promise((resolve) => setTimeout(resolve, 1500))
    proxy.speak()
    await performedOne(app)
    const done = await app.runs.wait(id)
    expect(done).toMatchObject({ state: 'done', attempt: 1, crashes: 0 })
    expect(begun.filter((run) => run === id)).toHaveLength(1)
    await stop()
  })

  it('does not prevent a store from closing', async () => {
    const { proxy, url } = await Proxy.before(stores.fresh())
    const store = await openPostgresStore({ url, clock: systemClock })
    store.watch(() => undefined)
    await Promise.all([store.counts(), store.counts(), store.counts()])
    proxy.silence()
    expect(await tookMs(() => store.close())).toBeLessThan(15_000)
    await proxy.close()
  })
})

async function started(options: { lease: string }): Promise<{
  app: Rota
  proxy: Proxy
  begun: string[]
  stop: () => Promise<void>
}> {
  const { proxy, url } = await Proxy.before(stores.fresh())
  const app = rota({ store: url, app: 'silent', ...options })
  const begun: string[] = []
  const job = (name: string, ms: number): void => {
    app.job(name, async ({ id, attempt, signal }: { id: string; attempt: number; signal: AbortSignal }) => {
      begun.push(id)
      // The second close is immediate.
      if (attempt === 1) await systemClock.sleep(ms, signal)
    })
  }
  job('quick', 0)
  job('short', 2000)
  job('long', 600_000)
  await app.start()
  const stop = async (): Promise<void> => {
    await app.stop({ grace: 0 })
    await proxy.close()
  }
  return { app, proxy, begun, stop }
}

/** Enqueues and performs one run; if the store is unreachable, the caller gets an error and tries again. */
async function performedOne(app: Rota): Promise<void> {
  for (;;) {
    try {
      const { id } = await app.enqueue('quick')
      await app.runs.wait(id)
      return
    } catch (error) {
      expect(error).toMatchObject({ code: 'STORE_AWAY' })
    }
  }
}

async function running(app: Rota, id: string): Promise<void> {
  await until(async () => (await app.runs.get(id))?.state === 'running')
}

/** Waits until the lease thread has renewed the lease once. */
async function leaseKept(app: Rota): Promise<void> {
  const store = await app.store()
  await until(async () => (await store.health({ now: app.now().getTime() })).epoch > 0)
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20))
}

async function tookMs(act: () => Promise<void>): Promise<number> {
  const startMs = systemClock.monotonicMs()
  await act()
  return Math.round(systemClock.monotonicMs() - startMs)
}
