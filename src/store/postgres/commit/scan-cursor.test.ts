import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PostgresServer } from '../../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../../test/fixtures/postgres-store.js'
import { systemClock } from '../../../time/clock.js'
import { aJob, aRun, outcomes, t0 } from '../../conformance/stage.js'
import type { Store } from '../../port.js'
import { ScanCursors } from './scan-cursor.js'
import { openPostgresStore } from '../postgres-store.js'

describe('where the ready runs begin', () => {
  const firsts = [{ job: 'a', priority: 5, run_at: 70_000, seq: 7 }]

  it('is not remembered while nothing lies in the way', () => {
    const positions = new ScanCursors()
    positions.note({ jobs: ['a'], firsts, passed: 100, now: 100_000 })
    expect(positions.of('a', 100_000)).toBeUndefined()
  })

  it('is the first run that was found, until the next full look', () => {
    const positions = new ScanCursors()
    positions.note({ jobs: ['a', 'b'], firsts, passed: 10_000, now: 100_000 })
    expect(positions.of('a', 100_999)).toEqual({ priority: 5, runAt: 70_000, seq: 7 })
    expect(positions.of('b', 100_999)).toEqual({ priority: 0, runAt: 99_000, seq: 0 })
    expect(positions.of('a', 101_000)).toBeUndefined()
  })

  it('leaves room for clocks that differ if the next full look is far away', () => {
    const positions = new ScanCursors()
    positions.note({ jobs: ['a'], firsts, passed: 20_000, now: 100_000 })
    expect(positions.of('a', 101_999)).toEqual({ priority: 5, runAt: 69_000, seq: 0 })
  })

  it('leaves the same room for runs of the last second, since others of that time may be committed later', () => {
    const positions = new ScanCursors()
    positions.note({ jobs: ['a'], firsts, passed: 1000, now: 70_500 })
    expect(positions.of('a', 70_599)).toEqual({ priority: 5, runAt: 69_000, seq: 0 })
  })

  it('is forgotten when a full look finds the way clear', () => {
    const positions = new ScanCursors()
    positions.note({ jobs: ['a'], firsts, passed: 10_000, now: 100_000 })
    positions.note({ jobs: ['a'], firsts: [], passed: 3, now: 200_000 })
    expect(positions.of('a', 200_000)).toBeUndefined()
  })
})

describe('while somebody holds a transaction open', () => {
  let server: PostgresServer
  let url: string

  beforeAll(async () => {
    server = await PostgresServer.start()
    url = (await PostgresStores.on(server)).fresh()
  })

  afterAll(() => server.stop())

  it('a claim does not go through all that was claimed since', async () => {
    const client = await server.connect(url)
    const before = 3000
    await perform(url, { runs: 1, atOnce: 1, everyMs: 1 })
    await client.query('begin isolation level repeatable read')
    await client.query('select 1')
    await perform(url, { runs: before, atOnce: 500, everyMs: 1000 })
    const start = await entriesRead()
    const turns = 100
    await perform(url, { runs: turns, atOnce: 1, everyMs: 10 })
    expect(await entriesRead()).toBeLessThan(start + 20 * before)
    await client.query('commit')
    await server.release(client)
  })

  /** Sessions tell what they have read when they end. */
  async function entriesRead(): Promise<number> {
    const client = await server.connect(url)
    const { rows } = await client.query<{ read: string }>(
      `select sum(idx_tup_read) as read from pg_stat_user_indexes where indexrelname = 'runs_ready'`,
    )
    await server.release(client)
    return Number(rows[0]?.read)
  }
})

let named = 0
let now = t0

/** Records runs and performs them, so many in one turn. */
async function perform(url: string, given: { runs: number; atOnce: number; everyMs: number }): Promise<void> {
  const store = await openPostgresStore({ url, clock: systemClock })
  const worker = `w${++named}`
  await store.defineJobs({ source: 'code:test', jobs: [aJob('work')], queues: [], now })
  await store.register({ id: worker, host: 'here', pid: 1, version: '0', now, leaseMs: 60_000 })
  await turnOf(store, worker, 1)
  for (let done = 0; done < given.runs; done += given.atOnce) {
    const runs = Array.from({ length: given.atOnce }, () => aRun(`run${++named}`, { runAt: now, dueAt: now }))
    await store.enqueue({ runs, now })
    await turnOf(store, worker, given.atOnce)
    now += given.everyMs
  }
  await store.close()
  now += 2000
}

async function turnOf(store: Store, worker: string, slots: number): Promise<void> {
  const claimRequest = { jobs: ['work'], slots, prefetch: 0 }
  const { claims } = await store.turn({ worker, now, finished: [], claimRequest })
  const finished = claims.map(({ run, attempt }) => {
    return { run, attempt, outcome: outcomes.done, startedAt: now, endedAt: now }
  })
  await store.turn({ worker, now, finished, claimRequest: undefined })
}
