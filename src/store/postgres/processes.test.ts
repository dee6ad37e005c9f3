import { afterAll, beforeAll, expect, it } from 'vitest'
import { PostgresServer } from '../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../test/fixtures/postgres-store.js'
import { expectInStep, killedAfter, outputOf } from '../../../test/fixtures/store-process.js'
import { aJob, aRun, aTrigger, Stage, t0 } from '../conformance/stage.js'

let server: PostgresServer
let stores: PostgresStores

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
})

afterAll(() => server.stop())

it('G5, G6: no run is claimed by two processes, none is left, and no concurrency slot and no queue admits too many', async () => {
  await withStore(async (stage, { url, schema }) => {
    const queues = [{ name: 'few', concurrency: 3 }]
    await stage.jobs([aJob('work'), aJob('limited', { queue: 'few' })], queues)
    const slots = [{ key: 'narrow', limit: 1 }]
    const runs = [
      ...Array.from({ length: 500 }, (_, i) => aRun(`plain${i}`)),
      ...Array.from({ length: 40 }, (_, i) => aRun(`gated${i}`, { slots })),
      ...Array.from({ length: 60 }, (_, i) => aRun(`limited${i}`, { job: 'limited' })),
    ]
    await stage.enqueue(runs)
    await stores.client.query(watchman(schema))
    const outputs = await Promise.all(['a', 'b', 'c'].map((name) => outputOf({ what: 'perform', url, name })))
    expect(outputs.flat().toSorted()).toEqual(runs.map(({ id }) => id).toSorted())
    expect((await stage.store.counts()).done).toBe(600)
    await stores.client.query(`drop trigger watchman on ${schema}.runs`)
  })
})

it('G3: if several processes record the same runs concurrently, each run and unique key exists once', async () => {
  await withStore(async (stage, { url }) => {
    await stage.jobs([aJob('work')])
    const outputs = await Promise.all(['a', 'b', 'c'].map((name) => outputOf({ what: 'record', url, name })))
    const first = outputs.flatMap((lines) => lines.slice(0, -1))
    expect(new Set(first).size).toBe(first.length)
    expect(first.length).toBe(40)
    expect((await stage.store.counts()).pending).toBe(3 * 40 + 40)
  })
})

it('G2, G7: schedulers that race, killed at any instruction, leave cursor and runs in step', async () => {
  await withStore(async (stage, { url }) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('t'), { nextAt: t0 })
    for (const lines of [3, 60]) {
      const said = await Promise.all(
        [lines, lines + 20].map((count) => killedAfter({ what: 'plan', url }, count)),
      )
      await expectInStep(stage.store, said.flat())
    }
  })
})

it('the stamp changes after a commit of any process, even of one that began before, and only then', async () => {
  await withStore(async (stage, { schema }) => {
    const { store } = stage
    // Other work of the server, such as autovacuum, may change the stamp for a short time.
    const steady = async (): Promise<unknown> => {
      for (let before: unknown; ; ) {
        const stamp = await store.stamp?.()
        if (stamp === before) return stamp
        before = stamp
      }
    }
    const first = await steady()
    expect(first).toBeTypeOf('string')
    await stage.jobs([aJob('work')])
    const second = await steady()
    expect(second).not.toBe(first)
    const { client } = stores
    await client.query(`begin; update ${schema}.meta set highest_at = highest_at + 1 where id = 1`)
    const third = await steady()
    await client.query('commit')
    const fourth = await steady()
    expect(fourth).not.toBe(third)
    await stage.worker('w')
    const beat = { worker: 'w', now: t0, leaseMs: 30_000 }
    expect(await steady()).not.toBe(fourth)
    // Renewals of leases make nobody look, however many processes there are. The server's own upkeep may come between.
    let isSame = false
    for (let tries = 0; tries < 20 && !isSame; tries++) {
      const before = await steady()
      await Promise.all([store.heartbeat(beat), store.heartbeat(beat), store.heartbeat(beat)])
      isSame = (await steady()) === before
    }
    expect(isSame).toBe(true)
  })
})

/** Makes the database itself refuse a claim beyond the limit. */
function watchman(schema: string): string {
  return `create or replace function ${schema}.watchman() returns trigger language plpgsql as $$ begin
      if (select count(*) from ${schema}.runs where state = 3 and gates is not null) > 1
        then raise exception 'too many in one slot'; end if;
      if (select count(*) from ${schema}.runs where state = 3 and job = 'limited') > 3
        then raise exception 'too many of the queue'; end if;
      return null; end $$;
    create constraint trigger watchman after update on ${schema}.runs deferrable initially deferred
      for each row execute function ${schema}.watchman()`
}

async function withStore(
  use: (stage: Stage, at: { url: string; schema: string }) => Promise<void>,
): Promise<void> {
  const opened = await stores.open()
  try {
    await use(new Stage(opened), opened)
  } finally {
    await opened.dispose()
  }
}
