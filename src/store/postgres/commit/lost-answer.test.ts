import { afterAll, beforeAll, expect, it } from 'vitest'
import { PostgresServer } from '../../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../../test/fixtures/postgres-store.js'
import { Proxy } from '../../../../test/fixtures/proxy.js'
import type { NewRun } from '../../../kernel/run/run.js'
import { systemClock } from '../../../time/clock.js'
import { aJob, aRun, outcomes, t0 } from '../../conformance/stage.js'
import type { Store } from '../../port.js'
import { openPostgresStore } from '../postgres-store.js'

let server: PostgresServer
let proxy: Proxy
let direct: string
let store: Store
const claimRequest = { jobs: ['work'], slots: 10, prefetch: 0 }

beforeAll(async () => {
  server = await PostgresServer.start()
  const stores = await PostgresStores.on(server)
  direct = stores.fresh()
  const behind = await Proxy.before(direct)
  proxy = behind.proxy
  store = await openPostgresStore({ url: behind.url, clock: systemClock })
  await store.defineJobs({ source: 'code:test', jobs: [aJob('work')], queues: [], now: t0 })
  await store.register({ id: 'w', host: 'here', pid: 1, version: '0', now: t0, leaseMs: 60_000 })
  // The first turn learns the definitions; those behind it are one call each.
  await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
})

afterAll(async () => {
  await store.close()
  await proxy.close()
  await server.stop()
})

it('G3, G5: an answer that is lost right behind its commit is found by what was written', async () => {
  const runs = [aRun('lost1'), aRun('lost2')]
  proxy.cutAt({ at: 1, when: 'answered' })
  const [enqueued, taken] = await Promise.all([
    store.enqueue({ runs, now: t0 }),
    store.turn({ worker: 'w', now: t0, finished: [], claimRequest }),
  ])
  expect(enqueued).toEqual(runs.map(({ id }) => ({ id, created: true })))
  expect(taken.claims.map(({ run }) => run)).toEqual(['lost1', 'lost2'].map((name) => aRun(name).id))
  expect(await store.counts()).toMatchObject({ pending: 0, running: 2 })
  const finished = taken.claims.map(({ run, attempt }) => ({
    run,
    attempt,
    outcome: outcomes.done,
    startedAt: t0,
    endedAt: t0,
  }))
  proxy.cutAt({ at: 1, when: 'answered' })
  const ended = await store.turn({ worker: 'w', now: t0, finished, claimRequest })
  expect(ended.finished).toEqual(['stored', 'stored'])
  expect(await store.counts()).toMatchObject({ pending: 0, running: 0 })
})

it('G3, G5: a lost answer is found for runs with slots and unique keys, and for lines of logs', async () => {
  const slots = [{ key: 'key:work=a', limit: 1 }]
  const of = (name: string, more: Partial<NewRun> = {}): NewRun =>
    aRun(name, { slots, uniqueKey: 'u', ...more })
  await store.enqueue({ runs: [of('holder')], now: t0 })
  proxy.cutAt({ at: 1, when: 'answered' })
  const enqueued = await store.enqueue({ runs: [of('refused'), of('second', { uniqueKey: 'v' })], now: t0 })
  expect(enqueued).toEqual([
    { id: of('holder').id, created: false },
    { id: of('second').id, created: true },
  ])
  const first = await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
  expect(first.claims.map(({ run }) => run)).toEqual([of('holder').id])
  const line = { run: of('holder').id, attempt: 1, at: t0, level: 'info', text: 'once' } as const
  proxy.cutAt({ at: 1, when: 'answered' })
  await store.log([line])
  proxy.cutAt({ at: 1, when: 'before' })
  await store.log([{ ...line, text: 'again' }])
  expect((await store.logs({ run: line.run, limit: 9 })).map(({ text }) => text)).toEqual(['once', 'again'])
  proxy.cutAt({ at: 1, when: 'answered' })
  const finished = first.claims.map(({ run, attempt }) => {
    return { run, attempt, outcome: outcomes.done, startedAt: t0, endedAt: t0 }
  })
  const turned = await store.turn({ worker: 'w', now: t0, finished, claimRequest })
  expect(turned.finished).toEqual(['stored'])
  expect(turned.claims.map(({ run }) => run)).toEqual([of('second').id])
})

it('a notice whose answer was lost is given again, and once it was given not any more', async () => {
  const run = aRun('noticed')
  await store.enqueue({ runs: [run], now: t0 })
  await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
  await store.cancel({ run: run.id, now: t0, reason: 'asked' })
  const other = aRun('beside')
  proxy.cutAt({ at: 1, when: 'answered' })
  const [, lost] = await Promise.all([
    store.enqueue({ runs: [other], now: t0 }),
    store.turn({ worker: 'w', now: t0, finished: [], claimRequest }),
  ])
  const next = await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
  expect([...lost.notices, ...next.notices]).toEqual([{ run: run.id, attempt: 1, kind: 'cancel' }])
  expect((await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })).notices).toEqual([])
})

it('G5: a call that was given up and arrives late claims nothing', async () => {
  await store.enqueue({ runs: [aRun('late')], now: t0 })
  const client = await server.connect(direct)
  const schema = client.escapeIdentifier(new URL(direct).searchParams.get('schema') as string)
  const known = `(select jobs_revision from ${schema}.meta), (select limits_revision from ${schema}.meta)`
  const call = `select ${schema}.commit_plain((select max(writer) from ${schema}.fences), 0, ${known}, 0, true, '{}', '{}', '{}',
    '{}', '{}', '{}', '{}', '{}', 'w', ${t0}, 0, '{}', '{}', '{}', '{}', '{}', '{work}', '{null}', '{null}', 1, 0, 1)`
  await expect(client.query(call)).rejects.toThrow('another call has taken the place of this one')
  await server.release(client)
  expect((await store.run(aRun('late').id))?.state).toBe('pending')
})
