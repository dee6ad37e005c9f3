import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { PostgresServer } from '../../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../../test/fixtures/postgres-store.js'
import { systemClock } from '../../../time/clock.js'
import { aJob, aRun, aTrigger, minute, Stage, t0 } from '../../conformance/stage.js'
import type { News } from '../../hint.js'
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

describe('a hint says what it is about', () => {
  it('the runs of a tick: only workers have to look', async () => {
    const { stage, next } = await watched()
    await stage.trigger(aTrigger('t'))
    await settled(next)
    const told = next()
    await stage.tick('t', t0 + minute, { runs: [aRun('due', { trigger: 't' })] })
    expect(await told).toBe('runs')
  })

  it('a run that has to stop: its worker may be full', async () => {
    const { stage, next } = await watched()
    await stage.trigger(aTrigger('t'))
    await stage.tick('t', t0 + minute, { runs: [aRun('older', { trigger: 't' })] })
    await stage.claimOne('w', t0 + minute)
    await settled(next)
    const told = next()
    const newer = aRun('newer', { trigger: 't', dueAt: t0 + 2 * minute })
    await stage.tick('t', t0 + 2 * minute, {
      runs: [newer],
      supersede: { mode: 'terminate', by: newer.id },
    })
    expect(await told).toBe('anything')
  })
})

/** Waits until no hint came for a while. */
async function settled(next: () => Promise<unknown>): Promise<void> {
  const quiet = (): Promise<boolean> =>
    Promise.race([
      next().then(() => false),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 200)),
    ])
  while (!(await quiet()));
}

/** A store with a worker, and the next hint that another process on it gets. */
async function watched(): Promise<{ stage: Stage; next: () => Promise<News | undefined> }> {
  const opened = await stores.open()
  const stage = new Stage(opened)
  await stage.jobs([aJob('work'), aJob('idle')])
  await stage.worker('w')
  // The one-call function is used only once the definitions are known.
  await stage.store.turn(wants('w', 'work'))
  const other = await openPostgresStore({ url: opened.url, clock: systemClock })
  const hints: ((news: News | undefined) => void)[] = []
  const next = (): Promise<News | undefined> => new Promise((resolve) => hints.push(resolve))
  const listening = next()
  other.watch((news) => {
    for (const hint of hints.splice(0)) hint(news)
  })
  await listening
  onTestFinished(async () => {
    await other.close()
    await opened.dispose()
  })
  return { stage, next }
}
