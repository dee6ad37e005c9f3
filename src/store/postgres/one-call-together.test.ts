import type { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { PostgresServer } from '../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../test/fixtures/postgres-store.js'
import { StoppedTransaction } from '../../../test/fixtures/stopped-transaction.js'
import type { NewRun } from '../../kernel/run/run.js'
import { systemClock } from '../../time/clock.js'
import type { Outcome } from '../../kernel/run/outcome.js'
import type { Tick } from '../../kernel/tick/tick.js'
import type { DueTrigger } from '../../kernel/trigger/trigger.js'
import { aJob, aRun, aTrigger, minute, outcomes, planOf, t0 } from '../conformance/stage.js'
import type { Store, TurnAnswer } from '../port.js'
import { openPostgresStore } from './postgres-store.js'

/*
 * Two processes at the same slot, queue or unique key: the first one is stopped in the middle of its transaction, the
 * second one begins, and then both continue. Anything that the second reads before the first has committed is wrong.
 */
let server: PostgresServer
let stores: PostgresStores
let client: Client
let schema: string
let stopped: StoppedTransaction
let one: Store
let other: Store

const jobs = [
  aJob('work'),
  aJob('limited', { concurrency: 1 }),
  aJob('queued', { queue: 'few' }),
  aJob('beside', { queue: 'few' }),
]

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
  await one.defineJobs({ source: 'code:test', jobs, queues: [{ name: 'few', concurrency: 1 }], now: t0 })
  for (const [store, id] of [
    [one, 'w'],
    [other, 'v'],
  ] as const) {
    await store.register({ id, host: 'here', pid: 1, version: '0', now: t0, leaseMs: 60_000 })
    // The first turn reads the definitions; later turns are one call each.
    await turn(store, id)
  }
  client = await server.connect(url)
  stopped = await StoppedTransaction.in(client, schema)
})

afterEach(async () => {
  await server.release(client)
  await one.close()
  await other.close()
})

it('G6: a run that reaches a slot while another leaves it does not wait forever', async () => {
  const slots = [{ key: 'key:work=a', limit: 1 }]
  await one.enqueue({ runs: [aRun('first', { slots })], now: t0 })
  await turn(one, 'w')
  // It has already looked for waiting runs and found none.
  await stopped.at('before delete', { of: 'gates' })
  await stopped.inTheMiddleOf(
    () => end(one, 'w', 'first'),
    () => other.enqueue({ runs: [aRun('second', { slots })], now: t0 }),
  )
  expect((await turn(other, 'v')).claims.map(({ run }) => run)).toEqual([aRun('second').id])
})

it('G6: two processes that record runs of one slot admit no more than its limit', async () => {
  const slots = [{ key: 'job:limited', limit: 1 }]
  const of = (name: string): NewRun => aRun(name, { job: 'limited', slots })
  await stopAt(`new.id = '${of('first').id}'`)
  await stopped.inTheMiddleOf(
    () => one.enqueue({ runs: [of('first')], now: t0 }),
    () => other.enqueue({ runs: [of('second')], now: t0 }),
  )
  const claimed = [await turn(one, 'w'), await turn(other, 'v')].flatMap(({ claims }) => claims)
  expect(claimed.map(({ run }) => run)).toEqual([of('first').id])
})

it('G6: a delayed run with a slot that two processes find due is admitted once', async () => {
  const slots = [{ key: 'key:work=a', limit: 2 }]
  await one.enqueue({ runs: [aRun('later', { slots, runAt: t0 + 5 })], now: t0 })
  await stopAt('old.state = 0 and new.state = 1')
  const [first, second] = await stopped.inTheMiddleOf(
    () => turn(one, 'w', { now: t0 + 10 }),
    () => turn(other, 'v', { now: t0 + 10 }),
  )
  expect([...first.claims, ...second.claims]).toHaveLength(1)
  const { rows } = await client.query<{ admitted: number }>(`select admitted::int from ${schema}.gates`)
  expect(rows).toEqual([{ admitted: 1 }])
})

it('G6: two processes that claim from one queue claim no more than its limit', async () => {
  await one.enqueue({ runs: ['queued', 'beside'].map((job) => aRun(job, { job })), now: t0 })
  await stopAt('new.state = 3')
  const [first, second] = await stopped.inTheMiddleOf(
    () => turn(one, 'w', { jobs: ['queued'] }),
    () => turn(other, 'v', { jobs: ['beside'] }),
  )
  expect([...first.claims, ...second.claims]).toHaveLength(1)
})

it('G3: two processes that record runs with one unique key record one', async () => {
  const of = (name: string): NewRun => aRun(name, { uniqueKey: 'u' })
  await stopAt(`new.id = '${of('first').id}'`)
  const [first, second] = await stopped.inTheMiddleOf(
    () => one.enqueue({ runs: [of('first')], now: t0 }),
    () => other.enqueue({ runs: [of('second')], now: t0 }),
  )
  expect(first).toEqual([{ id: of('first').id, created: true }])
  expect(second).toEqual([{ id: of('first').id, created: false }])
})

it('two processes that add lines to one log number them without a gap', async () => {
  await one.enqueue({ runs: [aRun('told')], now: t0 })
  const line = { run: aRun('told').id, attempt: 1, at: t0, level: 'info', text: 'a' } as const
  await stopped.at('before insert', { of: 'logs', when: `new.text = 'a'` })
  await stopped.inTheMiddleOf(
    () => one.log([line, line]),
    () => other.log([{ ...line, text: 'b' }]),
  )
  const read = await one.logs({ run: line.run, limit: 10 })
  expect(read.map(({ seq, text }) => `${seq}${text}`)).toEqual(['1a', '2a', '3b'])
})

it('two processes that continue one log number its lines without a gap', async () => {
  await one.enqueue({ runs: [aRun('told')], now: t0 })
  const line = { run: aRun('told').id, attempt: 1, at: t0, level: 'info', text: 'a' } as const
  await one.log([{ ...line, text: '-' }])
  await stopped.at('before insert', { of: 'logs', when: `new.text = 'a'` })
  await stopped.inTheMiddleOf(
    () => one.log([line, line]),
    () => other.log([{ ...line, text: 'b' }]),
  )
  const read = await one.logs({ run: line.run, limit: 10 })
  expect(read.map(({ seq, text }) => `${seq}${text}`)).toEqual(['1-', '2a', '3a', '4b'])
})

it('running enqueues survive a lock that is held for longer than one wait', async () => {
  const { rows } = await client.query<{ name: string }>(
    `select oid::regprocedure::text as name from pg_proc where proname = 'commit_work' and pronamespace = $1::regnamespace`,
    [schema],
  )
  await client.query(`alter function ${rows[0]?.name} set lock_timeout = '50ms'`)
  await client.query(`begin; lock table ${schema}.runs in access exclusive mode`)
  const slots = [{ key: 'job:limited', limit: 1 }]
  const runs = Array.from({ length: 200 }, (_, i) =>
    aRun(`r${i}`, i % 2 === 0 ? {} : { job: 'limited', slots }),
  )
  const enqueued = Promise.all(
    runs.map((run) => (run.job === 'work' ? one : other).enqueue({ runs: [run], now: t0 })),
  )
  await systemClock.sleep(400)
  await client.query('commit')
  expect((await enqueued).flat().filter(({ created }) => created)).toHaveLength(200)
})

it('G6: a run that reaches a slot while a failed one leaves it does not wait forever', async () => {
  const slots = [{ key: 'key:work=a', limit: 1 }]
  await one.enqueue({ runs: [aRun('first', { slots })], now: t0 })
  await turn(one, 'w')
  // It has already looked for waiting runs and found none: it stops at its commit.
  await stopped.at('after delete', { of: 'gates' })
  await stopped.inTheMiddleOf(
    () => end(one, 'w', 'first', outcomes.failed),
    () => other.enqueue({ runs: [aRun('second', { slots })], now: t0 }),
  )
  expect((await turn(other, 'v')).claims.map(({ run }) => run)).toEqual([aRun('second').id])
})

it('G1: two schedulers that tick one trigger at the same time create its run once', async () => {
  const tick = await dueTick('often')
  await stopAt(`new.id = '${tick.runs[0]?.id}'`)
  const [first, second] = await stopped.inTheMiddleOf(
    () => one.tick([tick]),
    () => other.tick([tick]),
  )
  expect([first, second]).toEqual([['ticked'], ['stale']])
  expect((await turn(one, 'w')).claims).toHaveLength(1)
})

it('ticks and failed runs with a slot do not wait for transactions at another slot', async () => {
  const tick = await dueTick('often')
  const at = (key: string): Partial<NewRun> => ({ slots: [{ key, limit: 1 }] })
  await one.enqueue({ runs: [aRun('slow', at('key:work=a'))], now: t0 })
  await turn(one, 'w')
  await other.enqueue({ runs: [aRun('bad', at('key:work=b'))], now: t0 })
  await turn(other, 'v')
  await stopAt('new.state = 4')
  await stopped.close()
  const ended = end(one, 'w', 'slow')
  await stopped.untilStopped()
  expect(await other.tick([tick])).toEqual(['ticked'])
  expect((await end(other, 'v', 'bad', outcomes.again(t0))).finished).toEqual(['stored'])
  await stopped.open()
  await ended
})

it('G6: a plain run does not wait for transactions at a slot', async () => {
  await one.enqueue({ runs: [aRun('slow', { slots: [{ key: 'key:work=a', limit: 1 }] })], now: t0 })
  await turn(one, 'w')
  await stopAt('new.state = 4')
  await stopped.close()
  const ended = end(one, 'w', 'slow')
  await stopped.untilStopped()
  await other.enqueue({ runs: [aRun('quick')], now: t0 })
  expect((await turn(other, 'v')).claims).toHaveLength(1)
  await stopped.open()
  await ended
})

function turn(
  store: Store,
  worker: string,
  { now = t0, jobs: names = jobs.map(({ name }) => name) }: { now?: number; jobs?: readonly string[] } = {},
): Promise<TurnAnswer> {
  const claimRequest = { jobs: names, slots: 5, prefetch: 0 }
  return store.turn({ worker, now, finished: [], claimRequest })
}

function end(
  store: Store,
  worker: string,
  name: string,
  outcome: Outcome = outcomes.done,
): Promise<TurnAnswer> {
  const finished = [{ run: aRun(name).id, attempt: 1, outcome, startedAt: t0, endedAt: t0 }]
  return store.turn({ worker, now: t0, finished, claimRequest: undefined })
}

/** Defines a trigger; returns the tick that creates its first run. */
async function dueTick(name: string): Promise<Tick> {
  const trigger = aTrigger(name, { overlap: 'skip' })
  const common = {
    source: 'code:test',
    revision: 0,
    now: t0,
    fingerprint: name,
    tzdata: '2026a',
    closing: undefined,
  }
  const begin = { cursorAt: t0, nextAt: t0 + minute, cancelPending: false }
  await one.defineTriggers([{ name, trigger, ...common, ...begin }])
  const [due] = await one.dueByName({ names: [name], now: t0 + minute })
  return planOf(due as DueTrigger, t0 + minute)
}

/** Stops every transaction that writes such a run. */
async function stopAt(when: string): Promise<void> {
  const event = when.includes('old.') || !when.includes('new.id') ? 'before update' : 'before insert'
  await stopped.at(event, { of: 'runs', when })
}
