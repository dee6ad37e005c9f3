import { afterAll, beforeAll, expect, it } from 'vitest'
import { rota } from '../../src/index.js'
import { systemClock } from '../../src/time/clock.js'
import { PostgresServer } from '../fixtures/postgres.js'
import { PostgresStores } from '../fixtures/postgres-store.js'

let server: PostgresServer
let stores: PostgresStores

beforeAll(async () => {
  server = await PostgresServer.start({ durable: true })
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

const healMs = 10_000

it('G4, G7: after a restart of the server, work continues within 10 s, and nothing is lost or repeated', async () => {
  const performed: number[] = []
  const app = rota({ store: stores.fresh(), app: 'restarted', lease: '5s' })
  app.job('note', async (run: { payload: unknown }) => void performed.push(run.payload as number))
  await app.start()
  const ids: string[] = []
  const end = new AbortController()
  const load = (async () => {
    for (let i = 0; !end.signal.aborted; i++) {
      // Refused while the server is unreachable, which the caller must know; the same id is never tried again.
      const answer = await app.enqueue('note', i).catch((error: unknown) => error as Error)
      if ('id' in answer) ids.push(answer.id)
      else expect(answer).toMatchObject({ code: 'STORE_AWAY' })
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })()
  await untilDone(ids, 20)
  await server.restart()
  const backMs = systemClock.monotonicMs()
  await untilDone(ids, ids.length + 20)
  expect(systemClock.monotonicMs() - backMs).toBeLessThan(healMs)
  end.abort()
  await load
  for (const id of ids) expect((await app.runs.wait(id)).state).toBe('done')
  expect(new Set(performed).size).toBe(performed.length)
  await app.stop()

  async function untilDone(known: readonly string[], wanted: number): Promise<void> {
    while (known.length < wanted) await new Promise((resolve) => setTimeout(resolve, 20))
    await app.runs.wait(known[wanted - 1] as string)
  }
}, 60_000)
