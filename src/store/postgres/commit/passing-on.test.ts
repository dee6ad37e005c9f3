import type { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PostgresServer } from '../../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../../test/fixtures/postgres-store.js'
import { StoppedTransaction } from '../../../../test/fixtures/stopped-transaction.js'
import type { NewRun } from '../../../kernel/run/run.js'
import { systemClock } from '../../../time/clock.js'
import { aJob, aRun, outcomes, t0 } from '../../conformance/stage.js'
import type { Claim, Store } from '../../port.js'
import { openPostgresStore } from '../postgres-store.js'

let server: PostgresServer
let stores: PostgresStores
let client: Client
let schema: string
let stopped: StoppedTransaction
let one: Store
let other: Store

const limit = 2
const queues = [{ name: 'few', concurrency: limit }]

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

beforeEach(async () => {
  const url = stores.fresh()
  schema = new URL(url).searchParams.get('schema') as string
  one = await openPostgresStore({ url, clock: systemClock })
  other = await openPostgresStore({ url, clock: systemClock })
  await define(limit)
  for (const [store, id] of [
    [one, 'w'],
    [other, 'v'],
  ] as const) {
    await store.register({ id, host: 'here', pid: 1, version: '0', now: t0, leaseMs: 60_000 })
    // The first turn reads the definitions; later turns are one call each.
    await take(store, id, 0)
  }
  client = await server.connect(url)
  stopped = await StoppedTransaction.in(client, schema)
})

afterEach(async () => {
  await server.release(client)
  await one.close()
  await other.close()
})

describe.each([
  {
    name: 'a job limit',
    job: 'limited',
    lock: () => `select pg_advisory_lock(1383036003, hashtext('${schema}:job:limited'))`,
    unlock: `select pg_advisory_unlock_all()`,
    count: () => `select admitted::int as n from ${schema}.gates`,
  },
  {
    name: 'a job limit within a limited queue',
    job: 'both',
    lock: () =>
      `begin; select 1 from ${schema}.queues for update; select pg_advisory_xact_lock(1383036003, hashtext('${schema}:job:both'))`,
    unlock: `commit`,
    count: () => `select admitted::int as n from ${schema}.gates`,
  },
  {
    name: 'a limited queue',
    job: 'queued',
    lock: () => `begin; select 1 from ${schema}.queues for update`,
    unlock: `commit`,
    count: () => `select running::int as n from ${schema}.queues`,
  },
])('at $name', ({ job, lock, unlock, count }) => {
  it('a turn passes its places on to runs that wait, while another transaction has the lock', async () => {
    await record(job, 8)
    const first = await take(one, 'w', limit)
    const second = await take(one, 'w', limit, first)
    await client.query(lock())
    const third = await take(one, 'w', limit, second)
    await client.query(unlock)
    const all = [...first, ...second, ...third]
    expect(all.map(({ run }) => run)).toEqual(namesOf(job, 6))
    expect(await counted(count())).toBe(limit)
  })

  it('two turns pass their places on at the same time, to different runs', async () => {
    await record(job, 12)
    const ofOne = await take(one, 'w', 1, await take(one, 'w', 1))
    const ofOther = await take(other, 'v', 1, await take(other, 'v', 1))
    await stopAtClaims('w')
    await stopped.close()
    const first = take(one, 'w', 1, ofOne)
    await stopped.untilStopped()
    const after = await take(other, 'v', 1, ofOther)
    await stopped.open()
    const next = await first
    expect(new Set([...ofOne, ...ofOther, ...next, ...after].map(({ run }) => run)).size).toBe(4)
    expect(await counted(count())).toBe(limit)
    expect((await one.counts()).running).toBe(limit)
  })

  it('a turn that passes its place on and a turn that takes the lock get different runs', async () => {
    await record(job, 12)
    const ofOne = await take(one, 'w', 1, await take(one, 'w', 1))
    const ofOther = await take(other, 'v', 1)
    await stopAtClaims('w')
    await stopped.close()
    const passedOn = take(one, 'w', 1, ofOne)
    await stopped.untilStopped()
    const withLock = take(other, 'v', 1, ofOther)
    if (job !== 'queued') await stopped.untilBlocked(2)
    await stopped.open()
    const claimed = [...ofOne, ...ofOther, ...(await passedOn), ...(await withLock)]
    expect(new Set(claimed.map(({ run }) => run)).size).toBe(4)
    expect(await counted(count())).toBe(limit)
  })

  it('a turn that finds fewer runs than places frees the others', async () => {
    await record(job, 5)
    const first = await take(one, 'w', limit)
    const second = await take(one, 'w', limit, first)
    const third = await take(one, 'w', limit, second)
    expect(third).toHaveLength(1)
    expect(await counted(count())).toBe(1)
    expect(await take(one, 'w', limit, third)).toEqual([])
    expect((await counted(count())) ?? 0).toBe(0)
  })

  it('a run is not forgotten while a turn that wants it fails', async () => {
    await record(job, 5)
    const second = await take(one, 'w', limit, await take(one, 'w', limit))
    await client.query('begin')
    await client.query(`select 1 from ${schema}.runs where id = '${namesOf(job, 5).at(-1)}' for update`)
    const turn = take(one, 'w', limit, second)
    if (job !== 'queued') await stopped.untilBlocked()
    else await turn
    await client.query('rollback')
    const found = [...(await turn), ...(job === 'queued' ? await take(one, 'w', limit) : [])]
    expect(found.map(({ run }) => run)).toEqual(namesOf(job, 5).slice(4))
    expect(await counted(count())).toBe(1)
  })

  it('a lower limit holds as soon as the runs beyond it have ended', async () => {
    await record(job, 8)
    const second = await take(one, 'w', limit, await take(one, 'w', limit))
    await define(1)
    const third = await take(one, 'w', limit, second)
    expect(third).toHaveLength(1)
    expect(await take(one, 'w', limit, third)).toHaveLength(1)
    expect(await counted(count())).toBe(1)
  })

  it('a higher limit admits more runs at the next turn', async () => {
    await record(job, 8)
    const second = await take(one, 'w', limit, await take(one, 'w', limit))
    await define(3)
    expect(await take(one, 'w', 3, second)).toHaveLength(3)
    expect(await counted(count())).toBe(3)
  })

  it('a more urgent run goes first', async () => {
    await record(job, 6)
    const second = await take(one, 'w', limit, await take(one, 'w', limit))
    await other.enqueue({ runs: [aRunOf(job, 'urgent', 5)], now: t0 })
    const third = await take(one, 'w', limit, second)
    expect(third.map(({ run }) => run)).toContain(aRunOf(job, 'urgent').id)
  })

  it('a worker that must not claim more frees its places', async () => {
    await record(job, 8)
    const second = await take(one, 'w', limit, await take(one, 'w', limit))
    await one.drain({ worker: 'w', isDraining: true })
    expect(await take(one, 'w', limit, second)).toEqual([])
    expect(await take(other, 'v', limit)).toHaveLength(limit)
  })
})

async function define(concurrency: number): Promise<void> {
  const both = aJob('both', { concurrency, queue: 'few' })
  const jobs = [aJob('limited', { concurrency }), aJob('queued', { queue: 'few' }), both]
  await one.defineJobs({
    source: 'code:test',
    jobs,
    queues: queues.map((queue) => ({ ...queue, concurrency })),
    now: t0,
  })
}

function aRunOf(job: string, name: string, priority = 0): NewRun {
  const slots = job === 'queued' ? [] : [{ key: `job:${job}`, limit }]
  return aRun(name, { job, slots, priority })
}

async function record(job: string, count: number): Promise<void> {
  await one.enqueue({ runs: Array.from({ length: count }, (_, i) => aRunOf(job, `r${i}`)), now: t0 })
}

function namesOf(job: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => aRunOf(job, `r${i}`).id)
}

/** Ends runs, and claims as many as there is room for. */
async function take(
  store: Store,
  worker: string,
  slots: number,
  ended: readonly Claim[] = [],
): Promise<readonly Claim[]> {
  const finished = ended.map(({ run, attempt }) => {
    return { run, attempt, outcome: outcomes.done, startedAt: t0, endedAt: t0 }
  })
  const claimRequest = { jobs: ['limited', 'queued', 'both'], slots, prefetch: 0 }
  const answer = await store.turn({ worker, now: t0, finished, claimRequest })
  expect(answer.finished).toEqual(finished.map(() => 'stored'))
  return answer.claims
}

async function counted(query: string): Promise<number | undefined> {
  return (await client.query<{ n: number }>(query)).rows[0]?.n
}

/** Stops the transactions of a worker where they claim. */
async function stopAtClaims(worker: string): Promise<void> {
  const { rows } = await client.query<{ key: string }>(
    `select key from ${schema}.workers where id = '${worker}'`,
  )
  await stopped.at('before update', { of: 'runs', when: `new.state = 3 and new.worker = ${rows[0]?.key}` })
}
