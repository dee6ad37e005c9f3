// The cost of a run on Postgres, for sizing a server: WAL, CPU time of the server and of Node, transactions,
// connections, and disk space.
import { inChild, inScratch } from './measure.mjs'
import { sizesOf } from './postgres-history.mjs'
import { inWindows, startPostgres } from './postgres-server.mjs'

const schema = 'rota_bench'
const windowMs = 3000
const rate = 1000

/** At full speed in groups, at a steady rate one by one, and idle. */
export function measureCosts({ quick, parent, say }) {
  return inScratch(parent, async (directory) => {
    const server = await startPostgres(directory)
    const client = await server.connect()
    const stage = { server, client, directory, say, scale: quick ? 0.2 : 1 }
    try {
      const bulk = await atFullSpeed(stage, 'enqueue-bulk')
      const both = await atFullSpeed(stage, 'perform')
      const room = await roomOf(stage)
      const steady = await steadily(stage, rate)
      // Vacuum first, so that the idle phase has nothing left to clean up.
      await client.query('vacuum analyze')
      await client.query('checkpoint')
      const rest = await steadily(stage, 0)
      return { rate, bulk, perform: difference(both, bulk), room, steady, rest }
    } finally {
      await client.end()
      await server.stop()
    }
  })
}

async function atFullSpeed({ server, client, directory, say, scale, joins = 'no' }, workload) {
  const count = 50_000 * scale
  const flags = {
    peer: 'rota-postgres',
    workload,
    count,
    concurrency: 10,
    capMs: 60_000,
    url: server.url,
    directory,
    joins,
  }
  await client.query('checkpoint')
  const before = await sample(server, client)
  const result = await inChild('./queue-child.mjs', flags)
  if (result.error !== undefined) throw new Error(result.error)
  const used = since(before, await sample(server, client))
  say(`costs: ${workload}`)
  return { ...perRun(used, count), clientUs: result.cpuUsEach, perSecond: result.perSecond }
}

/** The growth of the table: the space of dead rows is reused, so the first runs take more than later ones. */
async function roomOf(stage) {
  const { client } = stage
  await client.query(`vacuum ${schema}.runs`)
  const before = await sizesOf(client, schema)
  for (let i = 0; i < 2; i += 1) {
    await atFullSpeed({ ...stage, joins: 'yes' }, 'perform')
    await client.query(`vacuum ${schema}.runs`)
  }
  const after = await sizesOf(client, schema)
  const grown = (name) => after[name] - before[name]
  const indexes = Object.entries(after.indexes).map(([name, bytes]) => [name, bytes - before.indexes[name]])
  return {
    runs: grown('runs'),
    tableBytes: grown('tableBytes'),
    totalBytes: grown('totalBytes'),
    indexes: Object.fromEntries(indexes),
  }
}

/** One process records, another one performs; the first windows warm up and do not count. */
async function steadily({ server, client, directory, say, scale }, perSecond) {
  const seconds = Math.max(18, 45 * scale)
  const flags = { url: `${server.url}&schema=${schema}`, directory, rate: perSecond, windowMs, seconds }
  const samples = []
  const cpus = []
  let connections = 0
  const working = inWindows(
    './steady-child.mjs',
    { ...flags, task: 'work' },
    async ({ performed, cpuMs }) => {
      samples.push({ performed, ...(await sample(server, client)) })
      cpus.push(cpuMs)
      connections = Math.max(connections, await connectionsOf(client))
    },
  )
  const producing =
    perSecond === 0
      ? undefined
      : inWindows('./steady-child.mjs', { ...flags, task: 'produce' }, () => undefined)
  const [, produced] = await Promise.all([working, producing])
  say(`costs: ${perSecond} a second`)
  const [first, last] = [samples.at(1), samples.at(-2)]
  const used = since(first, last)
  const count = last.performed - first.performed
  const workerMs = cpus.at(-2) - cpus.at(1)
  return {
    ...perRun(used, count),
    runsPerSecond: (count * 1000) / used.ms,
    serverPercent: (used.cpuMs * 100) / used.ms,
    workerPercent: (workerMs * 100) / used.ms,
    producerPercent: produced?.cpuPercent,
    transactionsPerSecond: (used.transactions * 1000) / used.ms,
    walPerSecond: (used.wal * 1000) / used.ms,
    connections,
  }
}

/** The counters since the start of the server. */
async function sample(server, client) {
  const { rows } = await client.query(
    `select (pg_current_wal_insert_lsn() - '0/0')::float8 as wal,
      (select sum(xact_commit + xact_rollback)::float8 from pg_stat_database) as transactions`,
  )
  return { ...rows[0], cpuMs: server.cpuMs(), ms: performance.now() }
}

function since(before, after) {
  const names = ['wal', 'transactions', 'cpuMs', 'ms']
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]]))
}

function perRun({ wal, transactions, cpuMs }, count) {
  return {
    walBytes: wal / count,
    transactions: transactions / count,
    serverUs: (cpuMs * 1000) / count,
  }
}

/** Performing starts with a full queue: the cost of filling it is subtracted. */
function difference(both, bulk) {
  const names = ['walBytes', 'transactions', 'serverUs']
  return { ...both, ...Object.fromEntries(names.map((name) => [name, both[name] - bulk[name]])) }
}

async function connectionsOf(client) {
  const { rows } = await client.query(
    `select count(*)::int as open from pg_stat_activity where application_name = 'rota'`,
  )
  return rows[0].open
}
