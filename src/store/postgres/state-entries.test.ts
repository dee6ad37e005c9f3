import { Client } from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { PostgresServer } from '../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../test/fixtures/postgres-store.js'
import type { StateKey } from '../../kernel/state/state-entry.js'
import { systemClock } from '../../time/clock.js'
import { lawEffects } from '../conformance/effects.js'
import { tickOf } from '../conformance/follower-tick.js'
import { aJob, aRun, aTrigger, minute, outcomes, Stage, t0 } from '../conformance/stage.js'
import type { Finished, Store } from '../port.js'
import { openPostgresStore } from './postgres-store.js'

/*
 * State entries are changed by many processes at the same time, without the exclusive lock of the schema. Here each store
 * stands for a process: it has its own connections and its own cache.
 */
let server: PostgresServer
let stores: PostgresStores

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

it('ends of runs in many processes change a state entry one after the other', async () => {
  await withStores(4, async (stage, many) => {
    const jobs = ['one', 'two', 'three']
    await stage.jobs(jobs.map((name) => aJob(name)))
    const counters = jobs.map((name): StateKey => ({ kind: 'service', name, item: '' }))
    await stage.store.changeState({ changes: counters.map((key) => ({ ...key, value: 0 })), now: t0 })
    const runs = Array.from({ length: 360 }, (_, i) =>
      aRun(`r${i}`, { job: jobs[i % 3] as string, endEffect: 'waking', trigger: 'none' }),
    )
    await stage.enqueue(runs)
    const ended = await Promise.all(many.map((store, i) => performAll(store, { worker: `w${i}`, jobs })))
    expect(ended.flat().toSorted()).toEqual(runs.map(({ id }) => id).toSorted())
    for (const { name } of counters) {
      const [entry] = await stage.store.stateEntries({ kind: 'service', names: [name], limit: 1 })
      expect(entry).toMatchObject({ revision: 121, value: { before: 120 } })
    }
  })
})

it('of two changes of the same entries, computed from the same revisions, one is stale, in whatever order they name them', async () => {
  await withStores(4, async (stage, many) => {
    const keys = ['a', 'b', 'c'].map((name): StateKey => ({ kind: 'check', name, item: '' }))
    const increase = async (store: Store, order: readonly StateKey[]): Promise<void> => {
      for (;;) {
        const found = new Map(
          (await store.stateEntries({ kind: 'check', limit: 9 })).map((one) => [one.name, one]),
        )
        const changes = order.map((key) => {
          const known = found.get(key.name)
          return {
            ...key,
            revision: known?.revision ?? 0,
            value: ((known?.value as number | undefined) ?? 0) + 1,
          }
        })
        if ((await store.changeState({ changes, now: t0 })) === 'changed') return
      }
    }
    await Promise.all(
      many.map(async (store, i) => {
        const order = i % 2 === 0 ? keys : keys.toReversed()
        for (let n = 0; n < 25; n++) await increase(store, order)
      }),
    )
    const values = (await stage.store.stateEntries({ kind: 'check', limit: 9 })).map(({ value }) => value)
    expect(values).toEqual([100, 100, 100])
  })
})

it('no arrival is lost while some processes end runs and another one plans the trigger that follows them', async () => {
  await withStores(4, async (stage, many) => {
    await stage.jobs([aJob('work'), aJob('up')])
    const schedule = { kind: 'upstream', assets: ['up'] } as never
    await stage.trigger(aTrigger('follower', { schedule }), { nextAt: undefined, follows: ['up'] } as never)
    const runs = Array.from({ length: 120 }, (_, i) =>
      aRun(`up${i}`, { job: 'up', endEffect: 'asset', partition: `p${i % 7}` }),
    )
    await stage.enqueue(runs)
    const over = new AbortController()
    const taken = new Set<string>()
    const plan = async (store: Store): Promise<void> => {
      const now = t0 + minute
      for (const due of await store.due({ now, limit: 9 })) {
        const tick = await tickOf(store, due, { now, limit: 3 })
        const arrived = await store.stateEntries({ kind: 'arrival', names: ['follower'], limit: 999 })
        const runsOf = new Map(arrived.map(({ item, revision, value }) => [`${item} ${revision}`, value]))
        if ((await store.tick([tick]))[0] !== 'ticked') continue
        for (const { item, revision } of tick.stateChanges ?? []) {
          const value = runsOf.get(`${item} ${revision ?? 0}`) as { run: string } | undefined
          if (value !== undefined) taken.add(value.run)
        }
      }
    }
    const [planner, ...performers] = many as [Store, ...Store[]]
    const planning = (async () => {
      while (!over.signal.aborted) await plan(planner)
    })()
    await Promise.all(performers.map((store, i) => performAll(store, { worker: `w${i}`, jobs: ['up'] })))
    over.abort()
    await planning
    // Whatever is left makes the trigger due.
    for (let i = 0; i < 40; i++) await plan(planner)
    expect(await stage.store.stateEntries({ kind: 'arrival', names: ['follower'], limit: 999 })).toEqual([])
    expect(taken.size).toBeGreaterThan(0)
  })
})

it('processes that prune at the same time count every run once in the ledger', async () => {
  await withStores(3, async (stage, many) => {
    await stage.ready()
    await stage.trigger(aTrigger('t'), { nextAt: t0 })
    const runs = Array.from({ length: 90 }, (_, i) =>
      aRun(`r${i}`, { trigger: 't', origin: 'trigger', dueAt: t0 + i * minute, version: 1 }),
    )
    await stage.enqueue(runs, t0 + 90 * minute)
    await performAll(stage.store, { worker: 'p', jobs: ['work'] })
    const now = t0 + 200 * minute
    const pruned = await Promise.all(
      many.map(async (store) => {
        let count = 0
        for (let piece = 1; piece > 0; count += piece)
          piece = await store.prune({ before: now, limit: 7, now })
        return count
      }),
    )
    expect(pruned.reduce((sum, count) => sum + count, 0)).toBe(90)
    const ranges = await stage.store.ledger({ trigger: 't', fromAt: t0, untilAt: now })
    expect(ranges).toMatchObject([
      { reason: 'pruned', firstAt: t0, lastAt: t0 + 89 * minute, detail: '{"done":90}' },
    ])
  })
})

it('a process that defines nothing new, changes state entries and ends runs with effects never locks the schema for itself', async () => {
  await withStores(1, async (stage, [store]) => {
    await stage.ready()
    const run = aRun('a', { endEffect: 'waking', trigger: 'none' })
    await stage.enqueue([run])
    const claim = await stage.claimOne('w', t0)
    const query = vi.spyOn(Client.prototype, 'query')
    const sent = (): string[] =>
      query.mock.calls.map(([one]) => (typeof one === 'string' ? one : (one as { text: string }).text))
    try {
      await stage.jobs([aJob('work')])
      const key: StateKey = { kind: 'check', name: 'a', item: '' }
      await (store as Store).changeState({ changes: [{ ...key, value: 1, revision: 0 }], now: t0 })
      await stage.finish('w', claim, { outcome: outcomes.done, at: t0 + 1 })
      await (store as Store).expire({ now: t0, deadline: t0, limit: 9 })
      expect(await (store as Store).prune({ before: t0 + minute, limit: 9, now: t0 + minute })).toBe(1)
      expect(sent().filter((text) => text.includes('pg_advisory_xact_lock_shared')).length).toBeGreaterThan(3)
      expect(sent().filter((text) => /begin.*select pg_advisory_xact_lock\(/s.test(text))).toEqual([])
    } finally {
      query.mockRestore()
    }
    const [entry] = await stage.store.stateEntries({ kind: 'service', names: ['work'], limit: 1 })
    expect(entry?.value).toMatchObject({ run: run.id })
  })
})

/** Claims and ends runs until none is left; returns the ended ones. */
async function performAll(
  store: Store,
  { worker, jobs }: { worker: string; jobs: readonly string[] },
): Promise<string[]> {
  await store.register({ id: worker, host: 'here', pid: 1, version: '0', now: t0, leaseMs: 60 * minute })
  const ended: string[] = []
  let finished: Finished[] = []
  for (;;) {
    const claimRequest = { jobs, slots: 7, prefetch: 0 }
    const { claims, finished: answers } = await store.turn({ worker, now: t0 + 1, finished, claimRequest })
    expect(answers).toEqual(finished.map(() => 'stored'))
    ended.push(...finished.map(({ run }) => run))
    if (claims.length === 0) return ended
    finished = claims.map(({ run, attempt }) => ({
      run,
      attempt,
      outcome: outcomes.done,
      startedAt: t0,
      endedAt: t0 + 1,
    }))
  }
}

/** A stage, and several stores of the same schema. */
async function withStores(
  count: number,
  use: (stage: Stage, many: readonly Store[]) => Promise<void>,
): Promise<void> {
  const opened = await stores.open()
  const open = (): Promise<Store> =>
    openPostgresStore({ url: opened.url, clock: systemClock, endEffects: lawEffects })
  const others = await Promise.all(Array.from({ length: count - 1 }, open))
  try {
    await use(new Stage(opened), [opened.store, ...others])
  } finally {
    await Promise.all(others.map((store) => store.close()))
    await opened.dispose()
  }
}
