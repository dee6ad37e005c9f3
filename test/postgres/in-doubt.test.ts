import { afterAll, beforeAll, expect, it } from 'vitest'
import { aJob, aRun, t0 } from '../../src/store/conformance/stage.js'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.js'
import type { Store } from '../../src/store/port.js'
import { systemClock } from '../../src/time/clock.js'
import { Proxy } from '../fixtures/proxy.js'
import { ServerProcess } from '../fixtures/server-process.js'

let server: ServerProcess
let proxy: Proxy
let store: Store
let other: Store

beforeAll(async () => {
  // Only commits reach the disk.
  server = await ServerProcess.start({ settings: { wal_writer_delay: '10s', autovacuum: 'off' } })
  const behind = await Proxy.before(server.url)
  proxy = behind.proxy
  store = await openPostgresStore({ url: behind.url, clock: systemClock })
  other = await openPostgresStore({ url: server.url, clock: systemClock })
  await store.defineJobs({ source: 'code:test', jobs: [aJob('work')], queues: [], now: t0 })
  await store.enqueue({ runs: [aRun('first')], now: t0 })
})

afterAll(async () => {
  await Promise.all([store.close(), other.close()])
  await proxy.close()
  await server.remove()
})

it('G7, G9: a commit whose number a crashed server reused does not count as done', async () => {
  const silenced = proxy.silenceAtCommit()
  const answer = enqueueUnusually('doubtful').then(
    () => 'stored',
    (error: unknown) => error,
  )
  await silenced
  const before = await nextTransaction()
  await server.kill()
  await server.start()
  // Transaction numbers that never reached the disk are used again.
  const again = await nextTransaction()
  expect(again).toBeLessThan(before)
  while ((await nextTransaction()) <= before)
    await other.enqueue({ runs: [aRun(`other${++count}`)], now: t0 })
  proxy.cutAll()
  expect(await answer).toMatchObject({ code: 'STORE_AWAY' })
  expect(await other.run(aRun('doubtful').id)).toBeUndefined()
  await enqueueUnusually('doubtful')
  expect((await other.run(aRun('doubtful').id))?.state).toBe('pending')
}, 60_000)

it('if a server crashed before it got the commit and did not reuse its number, nothing is in doubt', async () => {
  const silenced = proxy.silenceAtCommit()
  const answer = enqueueUnusually('lost')
  await silenced
  await server.kill()
  await server.start()
  proxy.cutAll()
  expect(await answer).toEqual([{ id: aRun('lost').id, created: true }])
  expect((await other.run(aRun('lost').id))?.state).toBe('pending')
}, 60_000)

let count = 0

/** Records a run with deadlines, which needs an unusual transaction; the usual one is recognised by what it writes. */
function enqueueUnusually(name: string): ReturnType<Store['enqueue']> {
  return store.enqueue({ runs: [aRun(name, { deadlines: [] })], now: t0 })
}

async function nextTransaction(): Promise<number> {
  const client = await server.connect()
  const { rows } = await client.query<{ next: number }>(
    'select pg_snapshot_xmax(pg_current_snapshot())::text::int as next',
  )
  await client.end()
  return rows[0]?.next ?? 0
}
