// Runs by kind: the cost of a log line, a key, a limit, a rate limit, a trigger, a calendar or an SLA compared with a
// plain run, on each store, with one process and with four. The result is the ratio to plain runs of the same round.
//
//   node bench/kinds.mjs [--count=10000] [--rounds=3] [--stores=sqlite,postgres] [--kinds=plain,log,…] [--before=<other dist>]
//
// With --before the two builds alternate within each round, and the last column is the new rate against the old one.
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { dist, inScratch, median } from './measure.mjs'
import { startPostgres } from './postgres-server.mjs'

const { values: flags } = parseArgs({
  options: {
    count: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '3' },
    stores: { type: 'string', default: 'sqlite,postgres' },
    kinds: {
      type: 'string',
      default: 'plain,log,key,limit,queue,rate,rate-key,beside,trigger,unique,calendar,sla,fresh',
    },
    concurrency: { type: 'string', default: '20' },
    before: { type: 'string' },
    dir: { type: 'string' },
  },
})
const child = fileURLToPath(new URL('./kinds-child.mjs', import.meta.url))
const kinds = flags.kinds.split(',')
const builds = flags.before === undefined ? [dist] : [flags.before, dist]
const capMs = 120_000
/** The required ratio of a kind to plain runs of the same round, and of four processes to one, on Postgres. */
const targets = { ofPlain: 0.5, ofOne: 1 }
const rates = new Map()

await inScratch(flags.dir, async (directory) => {
  const stores = flags.stores.split(',')
  const server = stores.includes('postgres') ? await startPostgres(directory) : undefined
  let number = 0
  const addresses = {
    sqlite: () => `sqlite:${join(directory, `${++number}.db`)}`,
    postgres: () => `${server.url}&schema=kinds_${++number}`,
  }
  try {
    for (let round = 0; round < Number(flags.rounds); round++) {
      for (const store of stores)
        for (const kind of kinds) await measure(addresses[store], { store, kind, round, directory })
    }
  } finally {
    await server?.stop()
  }
})
print()
process.exit()

async function measure(addressOf, { store, kind, round, directory }) {
  const order = round % 2 === 0 ? builds : builds.toReversed()
  for (const build of order) {
    const run = (task, address, count) => start(build, { task, kind, store: address, count, directory })
    const note = (what, rate) => {
      const key = JSON.stringify([store, what, kind, build])
      rates.set(key, [...(rates.get(key) ?? []), rate])
      process.stderr.write(
        `${store} ${what} ${kind}: ${rate.toFixed(0)}/s ${build === dist ? '' : '(before)'}\n`,
      )
    }
    if (['plain', 'key', 'unique', 'sla'].includes(kind)) {
      const address = addressOf()
      await ended(run('prepare', address))
      note('enqueue', (await ended(run('enqueue', address, flags.count))).perSecond)
    }
    if (kind === 'plain' || kind === 'calendar')
      note('plan', (await ended(run('plan', addressOf(), flags.count))).perSecond)
    if (kind === 'sla') {
      const address = addressOf()
      await ended(run('prepare', address))
      note('judge', (await ended(run('judge', address, flags.count))).perSecond)
    }
    if (kind === 'unique' || kind === 'calendar') continue
    for (const processes of [1, 4]) {
      const address = addressOf()
      await ended(run('prepare', address))
      await ended(run('fill', address, flags.count))
      const workers = Array.from({ length: processes }, () => run('perform', address))
      note(`perform ×${processes}`, await rateOf(workers))
    }
  }
}

function start(build, given) {
  const texts = Object.entries({ concurrency: flags.concurrency, ...given })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `--${name}=${value}`)
  const env = { ...process.env, ROTA_DIST: build }
  return fork(child, texts, { env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
}

/** The output of a child that has ended. */
async function ended(one) {
  let out = ''
  one.stdout.on('data', (data) => (out += data))
  const code = await new Promise((resolve) => one.on('close', resolve))
  if (code !== 0) throw new Error(`a process ended with ${code}`)
  return JSON.parse(out.trimEnd().split('\n').at(-1))
}

/** Runs per second while the last nine tenths are performed: all processes have started, and all are awake. */
async function rateOf(workers) {
  const wanted = Number(flags.count)
  await Promise.all(workers.map((one) => new Promise((resolve) => one.once('message', resolve))))
  let startMs = performance.now()
  let first
  const counts = new Map()
  const total = await new Promise((resolve) => {
    const timer = setTimeout(() => resolve(sumOf(counts)), capMs)
    for (const one of workers) {
      one.on('message', ({ performed }) => {
        counts.set(one, performed)
        if (first === undefined && sumOf(counts) >= wanted / 10) {
          first = sumOf(counts)
          startMs = performance.now()
        }
        if (sumOf(counts) < wanted) return
        clearTimeout(timer)
        resolve(sumOf(counts))
      })
    }
    workers[0].send('go')
  })
  const rate = ((total - (first ?? 0)) * 1000) / (performance.now() - startMs)
  await Promise.all(
    workers.map((one) => {
      const gone = new Promise((resolve) => one.once('exit', resolve))
      one.disconnect()
      return gone
    }),
  )
  return rate
}

function sumOf(counts) {
  return [...counts.values()].reduce((sum, each) => sum + each, 0)
}

function print() {
  const of = (...key) => median(rates.get(JSON.stringify(key)) ?? [])
  const row = (...texts) =>
    console.log(
      texts
        .map((text) => text.padEnd(12))
        .join('')
        .trimEnd(),
    )
  const ratio = (rate, other) => (other === undefined ? undefined : rate / other)
  const judged = (value, target) =>
    value === undefined ? '' : `${value.toFixed(2)} ${value >= target ? 'pass' : 'FAIL'}`
  row('store', 'what', 'kind', 'per second', 'of plain', 'of one', 'of before')
  for (const key of rates.keys()) {
    const [store, what, kind, build] = JSON.parse(key)
    if (build !== dist) continue
    const rate = of(store, what, kind, build)
    const plain = kind === 'plain' ? undefined : of(store, what, 'plain', build)
    const isOfFour = what === 'perform ×4' && store === 'postgres'
    const one = isOfFour ? of(store, 'perform ×1', kind, build) : undefined
    const before = flags.before === undefined ? undefined : of(store, what, kind, flags.before)
    row(
      store,
      what,
      kind,
      rate.toFixed(0),
      isOfFour ? (ratio(rate, plain)?.toFixed(2) ?? '') : judged(ratio(rate, plain), targets.ofPlain),
      judged(ratio(rate, one), targets.ofOne),
      ratio(rate, before)?.toFixed(2) ?? '',
    )
  }
}
