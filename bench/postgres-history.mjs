// The cost of a long history: the same work on an empty schema and on one with millions of finished runs, in turns, on
// one server whose memory holds only a part of it.
import { inChild, inScratch, medians, sleep } from './measure.mjs'
import { startPostgres } from './postgres-server.mjs'

const schema = 'rota_history'

const workloads = [
  { name: 'enqueue, 50 in flight', workload: 'enqueue-50', count: 20_000 },
  { name: 'enqueue, bulk of 1000', workload: 'enqueue-bulk', count: 50_000 },
  { name: 'perform, concurrency 10', workload: 'perform', count: 50_000, concurrency: 10 },
]

const idle = { workload: 'idle', count: 500, concurrency: 10 }

/** Creates a history, measures with and without it, then measures reading and pruning it. */
export function measureHistory({ rounds, quick, history, parent, say }) {
  return inScratch(parent, async (directory) => {
    const server = await startPostgres(directory)
    try {
      return await onHistory({ server, directory, history, rounds, quick, say })
    } finally {
      await server.stop()
    }
  })
}

async function onHistory({ server, directory, history, rounds, quick, say }) {
  const url = `${server.url}&schema=${schema}`
  const client = await server.connect()
  say(`history: making ${history.toLocaleString('en')} finished runs`)
  await good(inChild('./history-child.mjs', { task: 'prepare', url, directory }))
  const builtMs = await build(client, history, say)
  const sizes = await sizesOf(client, schema)
  const found = new Map()
  const note = (name, where, result) => {
    if (!found.has(name)) found.set(name, { empty: [], full: [] })
    found.get(name)[where].push(result)
  }
  const common = { peer: 'rota-postgres', url: server.url, directory }
  const within = { schema, joins: 'yes' }
  // First, while nothing was deleted: the other workloads leave work for the server's vacuum.
  for (let round = 1; round <= rounds; round += 1) {
    for (const [where, own] of [
      ['empty', {}],
      ['full', within],
    ]) {
      await settle(client)
      note('idle', where, await good(inChild('./queue-child.mjs', { ...common, ...idle, ...own })))
    }
    say(`history at rest, round ${round} of ${rounds}`)
  }
  for (let round = 1; round <= rounds; round += 1) {
    for (const { name, count, ...flags } of workloads) {
      const given = { ...common, ...flags, count: quick ? count / 5 : count }
      await settle(client)
      note(name, 'empty', await good(inChild('./queue-child.mjs', given)))
      await clear(client)
      await settle(client)
      note(name, 'full', await good(inChild('./queue-child.mjs', { ...given, ...within })))
    }
    const [own, empty] = [{ task: 'claim', directory }, `${server.url}&schema=rota_bench`]
    note('claim', 'empty', await good(inChild('./history-child.mjs', { ...own, url: empty })))
    note('claim', 'full', await good(inChild('./history-child.mjs', { ...own, url })))
    say(`history, round ${round} of ${rounds}`)
  }
  const read = await good(inChild('./history-child.mjs', { task: 'read', url, directory }))
  const { pruneMs } = await good(inChild('./history-child.mjs', { task: 'prune', url, directory }))
  await client.end()
  const byName = [...found].map(([name, { empty, full }]) => [
    name,
    { empty: medians(empty), full: medians(full) },
  ])
  return { history, builtMs, sizes, read, pruneMs, ...Object.fromEntries(byName) }
}

/** Removes unfinished runs of other workloads, which would be performed but not counted. */
async function clear(client) {
  await client.query(`delete from ${schema}.runs where state < 4`)
  await client.query(`vacuum ${schema}.runs`)
}

/**
 * Waits until the server rests: what was written before is on the disk, and no vacuum of its own is under way. A vacuum of
 * ten million rows reads all of their indexes, and takes one of the machine's two cores meanwhile.
 */
async function settle(client) {
  for (let tries = 0; tries < 300; tries += 1) {
    const { rows } = await client.query(
      `select 1 from pg_stat_activity where backend_type = 'autovacuum worker' limit 1`,
    )
    if (rows.length === 0) break
    await sleep(200)
  }
  await client.query('checkpoint')
}

async function good(child) {
  const result = await child
  if (result.error !== undefined) throw new Error(result.error)
  return result
}

const stepMs = 100
const chunk = 200_000

/**
 * Finished runs as they are when they have been performed, a hundred milliseconds apart up to an hour ago: one in sixty
 * comes from a trigger, one in a hundred has failed three times. Ids begin with their instant, so they go in by order.
 */
async function build(client, count, say) {
  const startMs = performance.now()
  const until = Math.floor((Date.now() - 3_600_000) / 60_000) * 60_000
  const from = until - Math.ceil((count * stepMs) / 60_000) * 60_000
  await client.query(`set synchronous_commit = off`)
  await client.query(`update ${schema}.versions set valid_from = $1`, [from])
  await client.query(
    `insert into ${schema}.workers (id, host, pid, version, started_at, lease_until, phase)
      values ('bench-history', 'here', 1, '0', $1, $1, 2)`,
    [from],
  )
  for (let first = 0; first < count; first += chunk) {
    const last = Math.min(count, first + chunk) - 1
    await client.query(runsText, [first, last, from])
    await client.query(attemptsText, [from + first * stepMs, from + last * stepMs])
    if (first > 0 && first % 2_000_000 === 0) say(`history: ${first.toLocaleString('en')}`)
  }
  await client.query(ledgerText, [from, until])
  // A real history was rolled up hour by hour. Otherwise upkeep would roll it up during the measurement.
  await client.query(
    `insert into ${schema}.notes (kind, name, item, revision, at, value) values ('rollup', 'until', '', 1, $1::int8, $1::int8::text)`,
    [until - (until % 3_600_000)],
  )
  await client.query('vacuum analyze')
  await client.query('checkpoint')
  return performance.now() - startMs
}

const alphabet = `'0123456789abcdefghjkmnpqrstvwxyz'`

/** Ten characters of five bits, the highest first. */
const instantText = Array.from(
  { length: 10 },
  (_, place) => `substr(${alphabet}, ((at >> ${45 - 5 * place}) & 31)::int + 1, 1)`,
).join(' || ')

// Hexadecimal digits are also digits of base 32; the first of the 26 has three bits.
const runsText = `insert into ${schema}.runs (id, job, state, priority, run_at, due_at, attempt, failures, worker,
    claimed_at, started_at, finished_at, created_at, origin, trigger, version, gates, payload, error)
  select ${instantText} || (i % 8) || substr(md5(i::text), 1, 25), 'noop',
    case when is_failed then 5 else 4 end, 0, at, at, case when is_failed then 3 else 1 end,
    case when is_failed then 3 else 0 end, (select max(key) from ${schema}.workers), at + 1, at + 1, at + 2, at,
    case when trigger is null then 1 else 0 end, trigger, case when trigger is null then null else 1 end,
    case when trigger is null then null else '[["trigger:' || trigger || '",1]]' end,
    '{"i":' || i || ',"t":"noop"}', case when is_failed then '{"code":"FAILED","message":"it did not work"}' end
  from generate_series($1::int8, $2::int8) i
  cross join lateral (select case when i % 60 = 0 then 'often-' || i / 60 % 10 end as trigger, i % 100 = 7 as is_failed) kind
  cross join lateral (
    select case when trigger is null then $3::int8 + i * ${stepMs} else $3::int8 + i / 600 * 60000 end as at
  ) moment
  order by i`

const attemptsText = `insert into ${schema}.attempts (run, attempt, worker, claimed_at, started_at, ended_at, ended, error)
  select seq, n, worker, claimed_at, started_at, finished_at, 'failed', error
  from ${schema}.runs cross join generate_series(1, 3) n
  where state = 5 and finished_at between $1::int8 and $2::int8 + 2 order by seq, n`

// What did not run: an hour of every day was blacked out.
const ledgerText = `insert into ${schema}.ledger (trigger, first_at, last_at, version, reason, rule, recorded_at)
  select 'often-' || n, day, day + 3540000, 1, 'blackout', 'blackout', day
  from generate_series(0, 9) n cross join generate_series($1::int8, $2::int8, 86400000) day`

/** The disk space of the table of runs, its TOAST data, and each of its indexes. */
export async function sizesOf(client, name) {
  const { rows: indexes } = await client.query(
    `select indexrelname as name, pg_relation_size(indexrelid)::float8 as bytes from pg_stat_user_indexes
      where schemaname = $1 and relname = 'runs' order by bytes desc`,
    [name],
  )
  const { rows: totals } = await client.query(
    `select count(*)::int as runs, pg_table_size($1::regclass)::float8 as "tableBytes",
      pg_total_relation_size($1::regclass)::float8 as "totalBytes" from ${name}.runs`,
    [`${name}.runs`],
  )
  return { ...totals[0], indexes: Object.fromEntries(indexes.map((index) => [index.name, index.bytes])) }
}
