// Claims while another client keeps a transaction open in the same database: vacuum can remove no dead rows meanwhile,
// so a claim that reads them becomes slower with every run that ends.
import { inScratch, median } from './measure.mjs'
import { inWindows, startPostgres } from './postgres-server.mjs'

const windowMs = 10_000

/** Measures before the foreign transaction begins, while it lasts, and after it has ended. */
export function measureForeign({ seconds, rate, quick, parent, say }) {
  const heldS = seconds ?? (quick ? 60 : 180)
  const aroundS = quick ? 10 : 20
  const perSecond = rate ?? 500
  return inScratch(parent, async (directory) => {
    const server = await startPostgres(directory)
    try {
      return await underForeign({ server, directory, heldS, aroundS, rate: perSecond, say })
    } finally {
      await server.stop()
    }
  })
}

async function underForeign({ server, directory, heldS, aroundS, rate, say }) {
  const url = `${server.url}&schema=rota_bench`
  const flags = { url, directory, rate, windowMs, seconds: heldS + 2 * aroundS }
  const watcher = await server.connect()
  const foreign = await server.connect()
  const windows = []
  const worker = inWindows('./steady-child.mjs', { ...flags, task: 'work' }, async (window) => {
    const phase = phaseAt(windows.length)
    windows.push({ phase, ...window, ...(await deadRows(watcher)) })
    const { claimP50Ms, claimP99Ms, performed, deadRows: dead } = windows.at(-1)
    say(
      `foreign, ${phase}: ${performed} performed, ${dead} dead rows, claim p50 ${claimP50Ms?.toFixed(2)} p99 ${claimP99Ms?.toFixed(2)} ms`,
    )
    if (phaseAt(windows.length) === 'held' && phase === 'before') await hold(foreign)
    if (phaseAt(windows.length) === 'after' && phase === 'held') await foreign.query('rollback')
  })
  const producer = inWindows('./steady-child.mjs', { ...flags, task: 'produce' }, () => undefined)
  const [, produced] = await Promise.all([worker, producer])
  await Promise.all([watcher.end(), foreign.end()])
  return { rate, heldS, perSecond: produced.perSecond, windows, ...verdict(windows) }

  function phaseAt(index) {
    const atS = (index * windowMs) / 1000
    if (atS < aroundS) return 'before'
    return atS < aroundS + heldS ? 'held' : 'after'
  }
}

/** A snapshot is enough to block vacuum; nothing needs to be written or locked. */
async function hold(client) {
  await client.query('begin isolation level repeatable read')
  await client.query('select 1 from rota_bench.meta')
}

async function deadRows(client) {
  const { rows } = await client.query(
    `select n_dead_tup::int as "deadRows", pg_relation_size('rota_bench.runs')::int8 as "tableBytes",
      pg_relation_size('rota_bench.runs_ready')::int8 as "readyBytes"
    from pg_stat_user_tables where schemaname = 'rota_bench' and relname = 'runs'`,
  )
  return Object.fromEntries(Object.entries(rows[0]).map(([name, value]) => [name, Number(value)]))
}

/** Noise affects the p99 of one window, so the medians of the first three and the last three are compared. */
function verdict(windows) {
  const held = windows.filter(({ phase, claimP99Ms }) => phase === 'held' && claimP99Ms !== undefined)
  const some = Math.max(1, Math.min(3, held.length >> 1))
  const ratio = (name) =>
    median(held.slice(-some).map((window) => window[name])) /
    median(held.slice(0, some).map((window) => window[name]))
  return { p50Ratio: ratio('claimP50Ms'), p99Ratio: ratio('claimP99Ms'), startP99Ratio: ratio('startP99Ms') }
}
