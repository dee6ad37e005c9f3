import { Client } from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { PostgresServer } from '../../../test/fixtures/postgres.js'
import { PostgresStores } from '../../../test/fixtures/postgres-store.js'
import type { Tick } from '../../kernel/tick/tick.js'
import type { Instant } from '../../time/instant.js'
import type { Store } from '../port.js'
import type { RunFilter } from '../run-filter.js'
import { askAll } from '../conformance/questions.js'
import { aJob, aRun, aTrigger, minute, outcomes, Stage, t0 } from '../conformance/stage.js'

/*
 * Asks the server for the plan of each statement of the hot path, exactly as it was sent, on a store with a long
 * history and with statistics.
 */
let server: PostgresServer
let stores: PostgresStores
const texts = new Set<string>()
let schema: string

const history = 100_000

beforeAll(async () => {
  server = await PostgresServer.start()
  stores = await PostgresStores.on(server)
  const opened = await stores.open()
  await stores.client.query(historyIn(opened.schema, history))
  await stores.client.query(`analyze ${opened.schema}.runs`)
  const query = vi.spyOn(Client.prototype, 'query')
  await playOnce(new Stage(opened))
  for (const [sent] of query.mock.calls) if (typeof sent === 'object') texts.add(sent.text)
  query.mockRestore()
  schema = opened.schema
}, 120_000)

afterAll(() => server.stop())

const relied: readonly [what: RegExp, index: RegExp][] = [
  [/job = wanted\.name\s+order by priority/, /runs_ready/],
  [/set state = \S+ where seq = any\(array\(/, /runs_delayed/],
  [/select seq, job, gates from \S+runs where state = \S+ and run_at/, /runs_delayed_gated/],
  [/waits_for = \S+ order by priority/, /runs_blocked/],
  [/set state = \S+, started_at = ended\.started_at/, /runs_id_key/],
  [/set state = \S+, attempt = attempt/, /runs_pkey/],
  [/as worker\s+from \S+workers join/, /runs_running/],
  [/finished_at < \S+ order by finished_at/, /runs_ended/],
  [/where is_ticking = \S+ and next_at is not null and next_at <= \S+ order by/, /triggers_due/],
]

it.each(relied)('the statement with %s uses %s', async (what, index) => {
  const sql = [...texts].find((text) => what.test(text))
  expect(sql).toBeDefined()
  const plan = await planOf(sql ?? '')
  expect(plan).toMatch(index)
})

it('no statement of the hot path reads the whole history', async () => {
  const scans: string[] = []
  for (const sql of texts) {
    if (!/\.runs\b/.test(sql)) continue
    const plan = await planOf(sql)
    if (/Seq Scan on runs/.test(plan)) scans.push(`${sql}\n${plan}`)
  }
  expect(scans).toEqual([])
})

const lists: readonly [filter: RunFilter, index: RegExp][] = [
  [{ limit: 9, job: 'nobody', look: 1 }, /runs_id_key/],
  [{ limit: 9, errorText: 'no', newerThan: '0', look: 1 }, /runs_id_key/],
  [{ limit: 9, state: 'failed', errorCode: 'E*' }, /runs_unhappy/],
  [{ limit: 9, worker: 'w*' }, /runs_running/],
  [{ limit: 9, trigger: 'old1', labels: { a: 'b' } }, /runs_trigger/],
]

it.each(lists)('every statement of the list %j uses %s', async (filter, index) => {
  const opened = await stores.open()
  const store = await historyWithStatistics(opened)
  const query = vi.spyOn(Client.prototype, 'query')
  await store.runs(filter)
  const sent = query.mock.calls.flatMap(([one]) => (typeof one === 'object' ? [one.text] : []))
  query.mockRestore()
  const texts = sent.filter((text) => /from \S+\.runs/.test(text))
  expect(texts.length).toBeGreaterThan(0)
  for (const text of texts) expect(await planOf(text)).toMatch(index)
})

it('every query of lists, charts and alerts has an index', async () => {
  const { store } = await stores.open()
  const query = vi.spyOn(Client.prototype, 'query')
  await askAll(store)
  const sent = query.mock.calls.flatMap(([one]) => (typeof one === 'object' ? [one.text] : []))
  query.mockRestore()
  expect(new Set(sent).size).toBeGreaterThan(15)
  // Tables are nearly empty here: with this setting, only a query without an index still reads a whole table.
  await stores.client.query('set enable_seqscan = off')
  const whole: string[] = []
  for (const sql of new Set(sent)) {
    if (!/^\s*(select|with|delete)/i.test(sql)) continue
    const plan = await planOf(sql)
    if (/Seq Scan on (runs|triggers|ledger|audit|notes)\b/.test(plan)) whole.push(`${sql}\n${plan}`)
  }
  await stores.client.query('reset enable_seqscan')
  expect(whole).toEqual([])
})

it('the cached plans of functions from an empty store are right for a full one', async () => {
  const opened = await stores.open()
  const stage = new Stage(opened)
  await stage.ready()
  const perform = async (name: string): Promise<void> => {
    const slots = [{ key: 'key:work=a', limit: 1 }]
    await stage.enqueue([aRun(name), aRun(`${name}-slot`, { slots, uniqueKey: name })])
    await stage.enqueue([aRun(`${name}-next`, { slots, runAt: t0 + 1 })])
    await stage.store.log([{ run: aRun(name).id, attempt: 1, at: t0, level: 'info', text: 'a line' }])
    for (let i = 0; i < 3; i++) {
      const claim = await stage.claimOne('w', t0 + i)
      await stage.finish('w', claim, { outcome: outcomes.done, at: t0 + i })
    }
  }
  for (let i = 0; i < 10; i++) await perform(`before${i}`)
  await stores.client.query(historyIn(opened.schema, 20_000))
  for (let i = 0; i < 10; i++) await perform(`after${i}`)
  // The statistics of a session become visible when it ends.
  await opened.store.close()
  const read = `select pg_stat_clear_snapshot(), seq_tup_read from pg_stat_user_tables
    where schemaname = '${opened.schema}' and relname = 'runs'`
  const { rows } = await stores.client.query<{ seq_tup_read: string }>(read)
  expect(Number(rows[0]?.seq_tup_read)).toBeLessThan(20_000)
})

it('ticks that are committed together read no triggers but their own', async () => {
  await stores.client.query(manyTriggersIn(schema))
  const plan = await planOf([...texts].find((text) => text.includes('triggers.ctid as place')) ?? '')
  expect(plan).toMatch(/Tid Scan on triggers/)
  expect(plan).not.toMatch(/Seq Scan on triggers|Bitmap Index Scan on triggers_fingerprint/)
})

it('a tick reads the first unfinished runs of a trigger and not all of them', async () => {
  const opened = await stores.open()
  await stores.client.query(`${historyIn(opened.schema, 50_000, 1)}; analyze ${opened.schema}.runs`)
  const query = vi.spyOn(Client.prototype, 'query')
  const stage = new Stage(opened)
  await stage.trigger(aTrigger('old1'))
  await opened.store.due({ now: t0 + minute, limit: 10 })
  const sent = query.mock.calls.flatMap(([one]) => (typeof one === 'object' ? [one.text] : []))
  query.mockRestore()
  const plan = await planOf(sent.find((text) => /order by next_at, name limit/.test(text)) ?? '')
  expect(plan).toMatch(/Index Scan using runs_unfinished/)
  expect(plan).not.toMatch(/Sort Key: .*runs\.id/)
})

/** The generic plan of a statement, for any parameters. */
async function planOf(sql: string): Promise<string> {
  const numbers = [...sql.matchAll(/\$(\d+)/g)].map(([, digits]) => Number(digits))
  const count = Math.max(0, ...numbers)
  const values = count === 0 ? '' : `(${Array.from({ length: count }, () => 'null').join(', ')})`
  const { client } = stores
  await client.query(`set plan_cache_mode = force_generic_plan; prepare asked as ${sql}`)
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute asked${values}`)
  await client.query('deallocate asked; reset plan_cache_mode')
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

async function historyWithStatistics(opened: { schema: string; store: Store }): Promise<Store> {
  await stores.client.query(historyIn(opened.schema, 20_000))
  await stores.client.query(`analyze ${opened.schema}.runs`)
  return opened.store
}

/** Runs of a hundred triggers, finished ones or in another state. */
function historyIn(schema: string, count: number, state = 4): string {
  return `insert into ${schema}.runs (id, job, state, priority, run_at, due_at, created_at, origin, attempt, worker,
      claimed_at, started_at, finished_at, trigger)
    select lpad(n::text, 36, '0'), 'work', ${state}, 0, n, n, n, 0, 1, 1, n, n, n, 'old' || n % 100
    from generate_series(1, ${count}) n`
}

/** Copies of one trigger, with statistics. */
function manyTriggersIn(schema: string): string {
  return `insert into ${schema}.triggers
    select (jsonb_populate_record(original, jsonb_build_object('name', 'copy' || n))).*
    from ${schema}.triggers original, generate_series(1, 20000) n where name = 't';
    analyze ${schema}.triggers`
}

const claimRequest = { jobs: ['work'], slots: 100, prefetch: 10 }

/** Every verb of the hot path once, with data for each of its branches. */
async function playOnce(stage: Stage): Promise<void> {
  const { store } = stage
  await store.defineJobs({ source: 'code:test', jobs: [aJob('work')], queues: [], now: t0 })
  await stage.worker('w')
  const slots = [{ key: 'narrow', limit: 1 }]
  const runs = [
    ...Array.from({ length: 25 }, (_, i) => aRun(`plain${i}`)),
    aRun('later', { runAt: t0 + 5 }),
    aRun('unique', { uniqueKey: 'u', uniqueUntil: t0 + 9 }),
    aRun('same', { uniqueKey: 'u' }),
    ...Array.from({ length: 3 }, (_, i) => aRun(`gated${i}`, { slots })),
  ]
  await store.enqueue({ runs, now: t0 })
  const { claims } = await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
  const finished = claims.map((claim, i) => ({
    run: claim.run,
    attempt: claim.attempt,
    outcome: i % 2 === 0 ? outcomes.done : outcomes.again(t0 + 6),
    startedAt: t0,
    endedAt: t0 + 1,
  }))
  await store.turn({ worker: 'w', now: t0 + 5, finished, claimRequest })
  await store.cancel({ run: aRun('plain3').id, now: t0 + 5, reason: 'test' })
  await stage.trigger(aTrigger('t'))
  await store.due({ now: t0 + minute, limit: 10 })
  await store.nextTickAt({ now: t0 })
  await store.tick([aTick(t0 + minute)])
  const others = ['u', 'v']
  for (const name of others) await stage.trigger(aTrigger(name))
  const plain = { ...aTick(t0 + minute), runs: [], supersede: undefined }
  await store.tick(others.map((trigger) => ({ ...plain, trigger })))
  await store.expire({ now: t0, deadline: t0 + 61 * minute, limit: 10 })
  await store.prune({ before: 10, limit: 10, now: t0 + minute })
}

function aTick(now: Instant): Tick {
  const own = aRun('tick', { trigger: 't', origin: 'trigger', dueAt: now, version: 1 })
  return {
    trigger: 't',
    revision: 1,
    at: now,
    cursorAt: now,
    nextAt: now + minute,
    chainRun: undefined,
    runs: [own],
    ranges: [],
    supersede: { mode: 'terminate', by: own.id },
  }
}
