import { expect, it } from 'vitest'
import { rota } from '../../src/app/rota.js'
import { PostgresServer } from '../fixtures/postgres.js'

it('a run of a trigger begins when its tick is committed, and not with the next poll', async () => {
  const server = await PostgresServer.start()
  const app = rota({ app: 'lone', store: await server.createDatabase() })
  try {
    const lateMs: number[] = []
    const job = app.job('lone', ({ dueAt }) => void lateMs.push(Date.now() - dueAt.getTime()))
    app.schedule('lone', { job, cron: '* * * * * *' })
    await app.start()
    await expect.poll(() => lateMs.length, { timeout: 30_000 }).toBeGreaterThan(3)
    // A poll every 2 s would find one of them late by more than half a second, however busy the machine is.
    expect(lateMs.toSorted((one, other) => one - other)[1]).toBeLessThan(400)
  } finally {
    await app.stop()
    await server.stop()
  }
})
