import { afterAll, beforeAll, describe, it, onTestFinished } from 'vitest'
import { PostgresServer } from '../../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../../test/fixtures/postgres-store.js'
import { systemClock } from '../../../time/clock.js'
import { aJob, aRun, Stage, t0 } from '../../conformance/stage.js'
import type { Turn } from '../../port.js'
import { openPostgresStore } from '../postgres-store.js'

let server: PostgresServer
let stores: PostgresStores

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

const wants = (worker: string, job: string): Turn => {
  return { worker, now: t0, finished: [], claimRequest: { jobs: [job], slots: 9, prefetch: 0 } }
}

describe('other processes are notified of runs that are recorded in one commit with a turn', () => {
  it('if the turn did not request them', async () => {
    const { stage, next } = await watched()
    const told = next()
    await Promise.all([stage.enqueue([aRun('other')]), stage.store.turn(wants('w', 'idle'))])
    await told
  })

  it('if the worker of the turn has lost its lease', async () => {
    const { stage, next } = await watched()
    await stage.store.retire({ worker: 'w', now: t0 })
    const told = next()
    await Promise.all([stage.enqueue([aRun('orphan')]), stage.store.turn(wants('w', 'work'))])
    await told
  })
})

/** A store with a worker, and the next hint that another process on it gets. */
async function watched(): Promise<{ stage: Stage; next: () => Promise<void> }> {
  const opened = await stores.open()
  const stage = new Stage(opened)
  await stage.jobs([aJob('work'), aJob('idle')])
  await stage.worker('w')
  // The one-call function is used only once the definitions are known.
  await stage.store.turn(wants('w', 'work'))
  const other = await openPostgresStore({ url: opened.url, clock: systemClock })
  const hints: (() => void)[] = []
  const next = (): Promise<void> => new Promise((resolve) => hints.push(resolve))
  const listening = next()
  other.watch(() => hints.shift()?.())
  await listening
  onTestFinished(async () => {
    await other.close()
    await opened.dispose()
  })
  return { stage, next }
}
