import { afterAll, beforeAll, expect, it } from 'vitest'
import { runIdOf } from '../../src/kernel/identity/identity.js'
import { jobDefaults } from '../../src/kernel/job/job.js'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.js'
import { systemClock } from '../../src/time/clock.js'
import { PostgresServer } from '../fixtures/postgres.js'

const now = Date.UTC(2026, 0, 5)
let server: PostgresServer

beforeAll(async () => {
  server = await PostgresServer.start()
})

afterAll(async () => {
  await server.stop()
})

function runNamed(name: string) {
  const id = runIdOf({ at: now, parts: [name] })
  return { id, job: 'work', origin: 'enqueue', dueAt: now, runAt: now, priority: 0, slots: [] } as const
}

it('a replica can be read, and refuses writes with a reason', async () => {
  const url = await server.createDatabase()
  const primary = await openPostgresStore({ url, clock: systemClock })
  await primary.defineJobs({
    source: 'code:test',
    jobs: [{ ...jobDefaults, name: 'work' }],
    queues: [],
    now,
  })
  await primary.enqueue({ runs: [runNamed('first')], now })
  await primary.close()

  await server.restartAsStandby()
  const replica = await openPostgresStore({ url, clock: systemClock, create: false })
  expect((await replica.runs({ limit: 10 })).map(({ id }) => id)).toEqual([runNamed('first').id])
  expect(await replica.counts()).toMatchObject({ pending: 1, done: 0 })
  expect((await replica.queues()).length).toBeGreaterThan(0)
  expect((await replica.health({ now, deep: true })).faults).toEqual([])
  await expect(replica.enqueue({ runs: [runNamed('second')], now })).rejects.toMatchObject({
    code: 'STORE_AWAY',
    message: expect.stringContaining('is read-only') as unknown,
  })
  await replica.close()
})
