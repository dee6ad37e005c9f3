import type { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PostgresServer } from '../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../test/fixtures/postgres-store.js'
import { Proxy } from '../../../test/fixtures/proxy.js'
import { Events } from '../../engine/events.js'
import { ErrorTracer } from '../../engine/worker/error-tracer.js'
import { Worker } from '../../engine/worker/worker.js'
import { systemClock } from '../../time/clock.js'
import { aJob, aRun, outcomes, t0 } from '../conformance/stage.js'
import { done, ready, running } from '../sql/rows/states.js'
import type { Finished, Store } from '../port.js'
import { Statements } from './connection/database.js'
import { openPostgresStore } from './postgres-store.js'

let server: PostgresServer
let stores: PostgresStores
let proxy: Proxy
let direct: string
let schema: string
let store: Store
let client: Client

const claimRequest = { jobs: ['work'], slots: 10, prefetch: 0 }

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

beforeEach(async () => {
  direct = stores.fresh()
  schema = new URL(direct).searchParams.get('schema') as string
  const behind = await Proxy.before(direct)
  proxy = behind.proxy
  store = await openPostgresStore({ url: behind.url, clock: systemClock })
  await store.defineJobs({ source: 'code:test', jobs: [aJob('work'), aJob('other')], queues: [], now: t0 })
  for (const id of ['w', 'v'])
    await store.register({ id, host: 'here', pid: 1, version: '0', now: t0, leaseMs: 60_000 })
  // The first turn reads the definitions; later turns are one call each.
  await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
  client = await server.connect(direct)
})

afterEach(async () => {
  await server.release(client)
  await store.close()
  await proxy.close()
})

it('G6: a limit that is defined while a turn waits applies to that turn', async () => {
  await store.enqueue({ runs: [1, 2, 3, 4, 5].map((n) => aRun(`limited${n}`)), now: t0 })
  const { queue } = aJob('work')
  const lock = new Statements({ schema, prepare: 'off' }).lockKey
  // The definition needs the lock alone, and whoever comes later waits behind it.
  await client.query(`select pg_advisory_lock_shared(${lock})`)
  const defined = store.defineJobs({
    source: 'code:test',
    jobs: [aJob('work')],
    queues: [{ name: queue, concurrency: 1 }],
    now: t0,
  })
  await waitingAtLock(1)
  const first = store.turn({
    worker: 'v',
    now: t0,
    finished: [],
    claimRequest: { ...claimRequest, slots: 1 },
  })
  await waitingAtLock(2)
  const second = store.turn({
    worker: 'w',
    now: t0,
    finished: [],
    claimRequest: { ...claimRequest, slots: 3 },
  })
  await client.query(`select pg_advisory_unlock_shared(${lock})`)
  const [, one, other] = await Promise.all([defined, first, second])
  expect(one.claims.length + other.claims.length).toBe(1)
})

/** Resolves when so many transactions wait for an advisory lock. */
async function waitingAtLock(count: number): Promise<void> {
  const ask = `select count(*)::int as waiting from pg_locks where locktype = 'advisory' and not granted`
  for (;;) {
    const { rows } = await client.query<{ waiting: number }>(ask)
    if (rows[0]?.waiting === count) return
    await turnOfLoop()
  }
}

it('G5: a refused call does not count as done, although a run of it exists', async () => {
  await store.enqueue({ runs: [aRun('there'), aRun('ends')], now: t0 })
  await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
  proxy.cutAt({ at: 1, when: 'answered' })
  const [enqueued, turned] = await Promise.all([
    store.enqueue({ runs: [aRun('there')], now: t0 }),
    store.turn({ worker: 'w', now: t0, finished: [endOf('ends')], claimRequest: undefined }),
  ])
  expect(enqueued).toEqual([{ id: aRun('there').id, created: false }])
  expect(turned.finished).toEqual(['stored'])
  expect((await store.run(aRun('ends').id))?.state).toBe('done')
})

it('G5: a call that never arrived does not count as done because of a forgotten claim', async () => {
  await store.enqueue({ runs: [aRun('kept'), aRun('ends')], now: t0 })
  await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
  // A worker reports an attempt that another process has already ended.
  await store.turn({
    worker: 'v',
    now: t0,
    finished: [{ ...endOf('kept'), attempt: 7 }],
    claimRequest: undefined,
  })
  proxy.cutAt({ at: 1, when: 'before' })
  const turned = await store.turn({
    worker: 'w',
    now: t0,
    finished: [endOf('ends')],
    claimRequest: undefined,
  })
  expect(turned).toMatchObject({ claims: [], finished: ['stored'] })
  expect((await store.run(aRun('ends').id))?.state).toBe('done')
})

it('G5: where nobody can tell what became of a call, nothing of it is made again', async () => {
  await client.query(`create function ${schema}.fail() returns trigger language plpgsql as $$ begin
    raise exception 'no room' using errcode = '53100'; end $$;
    create trigger fail before insert on ${schema}.fences for each row execute function ${schema}.fail()`)
  proxy.cutAt({ at: 1, when: 'answered' })
  const [enqueued, turned] = await Promise.allSettled([
    store.enqueue({ runs: [aRun('unsure')], now: t0 }),
    store.turn({ worker: 'w', now: t0, finished: [], claimRequest }),
  ])
  expect([enqueued.status, turned.status]).toEqual(['rejected', 'rejected'])
  expect((await store.run(aRun('unsure').id))?.state).toBe('running')
  await client.query(`drop trigger fail on ${schema}.fences`)
  await store.enqueue({ runs: [aRun('after')], now: t0 })
  const next = await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
  expect(next.claims.map(({ run }) => run)).toEqual([aRun('after').id])
})

it('a turn that finds the remaining runs locked by others returns that there are more', async () => {
  await store.enqueue({ runs: [aRun('locked')], now: t0 })
  await client.query('begin')
  await client.query(`select from ${schema}.runs for update`)
  const turned = await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
  await client.query('rollback')
  expect(turned).toMatchObject({ claims: [], more: true })
})

it('of two jobs, the less urgent one is found by the next look, even if the other is blocked', async () => {
  const holder = await server.connect(direct)
  const at = t0 + 20_000
  await store.enqueue({ runs: Array.from({ length: 900 }, (_, i) => aRun(`taken${i}`)), now: t0 })
  await holder.query('begin isolation level repeatable read')
  await holder.query(`select count(*) from ${schema}.runs`)
  const { claims } = await store.turn({
    worker: 'w',
    now: t0,
    finished: [],
    claimRequest: { ...claimRequest, slots: 900 },
  })
  const ends = claims.map(({ run, attempt }) => ({ ...endOf(''), run, attempt }))
  await store.turn({ worker: 'w', now: t0, finished: ends, claimRequest: undefined })
  const both = { jobs: ['work', 'other'], slots: 1, prefetch: 0 }
  await store.enqueue({
    runs: [aRun('first', { runAt: t0 + 1 }), aRun('second', { job: 'other', runAt: t0 + 5000 })],
    now: at,
  })
  const one = await store.turn({ worker: 'w', now: at, finished: [], claimRequest: both })
  const two = await store.turn({ worker: 'w', now: at + 1, finished: [], claimRequest: both })
  expect([...one.claims, ...two.claims].map(({ job }) => job)).toEqual(['work', 'other'])
  await holder.query('rollback')
  await server.release(holder)
})

it('a worker with many jobs gets the most urgent runs of all of them', async () => {
  const names = Array.from({ length: 40 }, (_, i) => `job${i}`)
  await store.defineJobs({ source: 'code:many', jobs: names.map((name) => aJob(name)), queues: [], now: t0 })
  const wanted = { jobs: names, slots: 3, prefetch: 0 }
  await store.turn({ worker: 'w', now: t0, finished: [], claimRequest: wanted })
  const runs = [17, 3, 39, 8].map((n) => aRun(`of${n}`, { job: `job${n}`, priority: n }))
  await store.enqueue({ runs: [...runs, aRun('unwanted', { priority: 99 })], now: t0 })
  const turned = await store.turn({ worker: 'w', now: t0, finished: [], claimRequest: wanted })
  expect(turned.claims.map(({ job }) => job)).toEqual(['job39', 'job17', 'job8'])
  expect(turned.more).toBe(true)
})

it('G5: a turn with many ends stores all of them and claims meanwhile, each notice once', async () => {
  const names = Array.from({ length: 200 }, (_, i) => `many${i}`)
  await store.enqueue({ runs: names.map((name) => aRun(name)), now: t0 })
  const first = await store.turn({
    worker: 'w',
    now: t0,
    finished: [],
    claimRequest: { ...claimRequest, slots: 100 },
  })
  expect(first.claims).toHaveLength(100)
  await store.cancel({ run: aRun('many0').id, now: t0, reason: 'asked' })
  const finished = first.claims.slice(1).map(({ run }) => ({ ...endOf(''), run }))
  const second = await store.turn({
    worker: 'w',
    now: t0 + 1,
    finished,
    claimRequest: { ...claimRequest, slots: 100 },
  })
  expect(new Set(second.finished)).toEqual(new Set(['stored']))
  expect(second.claims.map(({ run }) => run)).toEqual(names.slice(100).map((name) => aRun(name).id))
  expect(second.notices).toEqual([{ run: aRun('many0').id, attempt: 1, kind: 'cancel' }])
  expect(await store.counts()).toMatchObject({ running: 101, done: 99 })
})

it('G6: a turn that frees a slot claims the run that waits there, unless another is more urgent', async () => {
  const slots = [{ key: 'key:work=a', limit: 1 }]
  const waiting = [aRun('a1', { slots }), aRun('a2', { slots }), aRun('a3', { slots })]
  await store.enqueue({ runs: waiting, now: t0 })
  const one = { worker: 'w', now: t0, claimRequest: { jobs: ['work'], slots: 1, prefetch: 0 } }
  const [first] = (await store.turn({ ...one, finished: [] })).claims
  expect(first?.run).toBe(aRun('a1').id)
  // It does not become ready first.
  await refuse(ready)
  expect((await store.turn({ ...one, finished: [endOf('a1')] })).claims.map(({ run }) => run)).toEqual([
    aRun('a2').id,
  ])
  await client.query(`drop trigger refuse on ${schema}.runs`)
  await store.enqueue({ runs: [aRun('urgent', { priority: 9 })], now: t0 })
  expect((await store.turn({ ...one, finished: [endOf('a2')] })).claims.map(({ run }) => run)).toEqual([
    aRun('urgent').id,
  ])
  expect((await store.turn({ ...one, finished: [endOf('urgent')] })).claims.map(({ run }) => run)).toEqual([
    aRun('a3').id,
  ])
})

it('G6: a turn whose many ends free slots claims other runs meanwhile, and requests another turn', async () => {
  const names = Array.from({ length: 100 }, (_, i) => `k${i}`)
  const slotsOf = (name: string) => [{ key: `key:work=${name}`, limit: 1 }]
  const ofAll = (prefix: string) => names.map((name) => aRun(`${prefix}-${name}`, { slots: slotsOf(name) }))
  await store.enqueue({ runs: [...ofAll('first'), ...ofAll('second')], now: t0 })
  const plain = aRun('plain')
  await store.enqueue({ runs: [plain], now: t0 })
  const one = { worker: 'w', now: t0, claimRequest: { jobs: ['work'], slots: 100, prefetch: 0 } }
  const first = await store.turn({ ...one, finished: [] })
  expect(first).toMatchObject({ more: true })
  const finished = first.claims.map(({ run }) => ({ ...endOf(''), run }))
  // The ends fail, and the claims are committed: they are two transactions.
  await refuse(done)
  const second = await store.turn({ ...one, finished })
  expect(second).toMatchObject({ failed: { part: 'finished' }, claims: [{ run: plain.id }] })
  await client.query(`drop trigger refuse on ${schema}.runs`)
  const more = Array.from({ length: 100 }, (_, i) => aRun(`more${i}`))
  await store.enqueue({ runs: more, now: t0 })
  expect(
    await store.turn({ ...one, finished: [], claimRequest: { ...one.claimRequest, slots: 1 } }),
  ).toMatchObject({
    more: true,
  })
  // An admitted run may come too late for the claims: then another turn must follow.
  const third = await store.turn({ ...one, finished, claimRequest: { ...one.claimRequest, slots: 99 } })
  expect(third).toMatchObject({ more: true, expired: false })
  const fourth = await store.turn({ ...one, finished: [] })
  const claimed = [...third.claims, ...fourth.claims].map(({ run }) => run)
  const left = [...more.slice(1), ...ofAll('second')].map(({ id }) => id)
  expect(claimed.toSorted()).toEqual(left.toSorted())
})

it('G6: a queue counts a run that is claimed where it waits, also for a worker with many jobs', async () => {
  const names = Array.from({ length: 9 }, (_, i) => `job${i}`)
  const [limited = ''] = names
  const jobs = names.map((name) => ({
    ...aJob(name),
    queue: 'few',
    ...(name === limited ? { concurrency: 1 } : {}),
  }))
  const queues = [{ name: 'few', concurrency: 2 }]
  await store.defineJobs({ source: 'code:test', jobs, queues, now: t0 })
  const slots = [{ key: `job:${limited}`, limit: 1 }]
  const runs = ['l1', 'l2', 'l3'].map((name) => aRun(name, { job: limited, slots }))
  await store.enqueue({ runs, now: t0 })
  const one = { worker: 'w', now: t0, claimRequest: { jobs: names, slots: 5, prefetch: 0 } }
  // The first turn reads the definitions.
  let finished: Finished[] = []
  for (const { id } of runs) {
    const { claims } = await store.turn({ ...one, finished })
    expect(claims.map(({ run }) => run)).toEqual([id])
    const { rows } = await client.query<{ running: number }>(
      `select running::int from ${schema}.queues where name = 'few'`,
    )
    expect(rows).toEqual([{ running: 1 }])
    finished = claims.map(({ run }) => ({ ...endOf(''), run }))
  }
})

it('a statement that the server cancels is repeated', async () => {
  const holder = await server.connect(direct)
  await holder.query(`begin; lock table ${schema}.runs in exclusive mode`)
  const enqueued = store.enqueue({ runs: [aRun('late')], now: t0 })
  const CANCEL = `select pg_cancel_backend(pid) from pg_stat_activity
    where wait_event_type = 'Lock' and datname = current_database()`
  while ((await client.query(CANCEL)).rowCount === 0) await turnOfLoop()
  await holder.query('rollback')
  expect(await enqueued).toEqual([{ id: aRun('late').id, created: true }])
  await server.release(holder)
})

describe('a turn with many ends of which one transaction fails', () => {
  beforeEach(async () => {
    await store.enqueue({ runs: Array.from({ length: 200 }, (_, i) => aRun(`many${i}`)), now: t0 })
  })

  it.each([
    { failing: running, part: 'claims', counts: { running: 1, done: 99 }, claims: 0 },
    { failing: done, part: 'finished', counts: { running: 150, done: 0 }, claims: 50 },
  ])('returns the result of the other if the $part fail', async ({ failing, part, counts, claims }) => {
    const first = await store.turn({
      worker: 'w',
      now: t0,
      finished: [],
      claimRequest: { ...claimRequest, slots: 100 },
    })
    await store.cancel({ run: aRun('many0').id, now: t0, reason: 'asked' })
    const finished = first.claims.slice(1).map(({ run }) => ({ ...endOf(''), run }))
    await refuse(failing)
    const answer = await store.turn({
      worker: 'w',
      now: t0 + 1,
      finished,
      claimRequest: { ...claimRequest, slots: 50 },
    })
    expect(answer.failed).toMatchObject({ part, error: { code: 'STORE_FULL' } })
    expect(answer.claims).toHaveLength(claims)
    expect(answer.notices).toEqual([{ run: aRun('many0').id, attempt: 1, kind: 'cancel' }])
    expect(await store.counts()).toMatchObject(counts)
  })

  it('G5: a worker reports every end once, and none is refused', async () => {
    const told: string[] = []
    const events = new Events()
    const troubled = new Promise<unknown>((resolve) => events.on('trouble', resolve))
    const ended = new Promise<void>((resolve) => {
      events.on('run:ended', ({ run }) => {
        if (told.push(run) === 200) resolve()
      })
    })
    const refused: string[] = []
    events.on('run:refused', ({ run }) => refused.push(run))
    let begun = 0
    let letGo = (): void => undefined
    const isGo = new Promise<void>((resolve) => (letGo = resolve))
    const handler = async (): Promise<void> => {
      if (++begun === 100) await refuse(running).then(letGo)
      await isGo
    }
    const worker = new Worker({
      id: 'w',
      store,
      clock: systemClock,
      now: () => t0 + 1,
      events,
      tracer: new ErrorTracer(),
      concurrency: () => 100,
      executableJobs: () => Promise.resolve(new Map([['work', { job: aJob('work'), handler }]])),
      pollMs: 60_000,
      onDue: () => undefined,
      onExpired: () => undefined,
    })
    worker.wake()
    await troubled
    await client.query(`drop trigger refuse on ${schema}.runs`)
    await ended
    expect(new Set(told).size).toBe(200)
    expect(refused).toEqual([])
    worker.abandon()
  })
})

/** Makes every statement fail that would put a run into a state. */
async function refuse(state: number): Promise<void> {
  await client.query(`create or replace function ${schema}.refuse() returns trigger language plpgsql as $$ begin
    raise exception 'no room' using errcode = '53100'; end $$;
    create trigger refuse before update on ${schema}.runs for each row when (new.state = ${state})
      execute function ${schema}.refuse()`)
}

function endOf(name: string): Finished {
  return { run: aRun(name).id, attempt: 1, outcome: outcomes.done, startedAt: t0, endedAt: t0 }
}

function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
