// A company's day: 2,000 triggers with mixed policies, jobs that log, fail and are tried again, keys, priorities, four
// processes. An hour's load within --seconds. Prints lateness, CPU of each run and how the store grew.
//
//   node bench/day.mjs [--systems=rota-sqlite,rota-postgres,bullmq,pg-boss] [--seconds=120] [--triggers=2000]
//                      [--requests=20000] [--processes=4] [--dir=<scratch>]
//
// rota-files is not among the defaults: its every transaction writes several files.
import { readdirSync, statSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { timesDue, triggersOf } from './day/plan.mjs'
import { inChild, inScratch, percentile } from './measure.mjs'
import { startPostgres } from './postgres-server.mjs'
import { startRedis } from './redis.mjs'

const { values: flags } = parseArgs({
  options: {
    systems: { type: 'string', default: 'rota-sqlite,rota-postgres,bullmq,pg-boss' },
    seconds: { type: 'string', default: '120' },
    triggers: { type: 'string', default: '2000' },
    requests: { type: 'string', default: '20000' },
    processes: { type: 'string', default: '4' },
    dir: { type: 'string' },
  },
})
const { seconds, triggers, requests, processes } = flags
/** The time until all four processes have started. */
const leadMs = 10_000
const sqlite = {
  system: 'rota',
  open: async (directory) => ownFiles(directory, `sqlite:${join(directory, 'rota.db')}`),
}
const files = {
  system: 'rota',
  open: async (directory) => ownFiles(directory, `files:${join(directory, 'data')}`),
}
const systems = {
  'rota-sqlite': sqlite,
  'rota-files': files,
  'rota-postgres': { system: 'rota', open: (directory) => onPostgres(directory, 'day') },
  bullmq: { system: 'bullmq', open: onRedis },
  'pg-boss': { system: 'pg-boss', open: (directory) => onPostgres(directory, 'pgboss_day') },
}
const due = triggersOf(Number(triggers), Number(seconds)).reduce(
  (sum, trigger) => sum + timesDue(trigger, Number(seconds)),
  0,
)
console.log(`${due} due times and ${requests} requests in ${seconds} s; load ${loadavg()[0].toFixed(1)}`)
console.log(
  line('system', 'runs', 'attempts', 'p50 ms', 'p99 ms', 'max ms', 'CPU µs/run', 'server', 'bytes/run'),
)
for (const name of flags.systems.split(',')) {
  if (systems[name] === undefined)
    throw new Error(`--systems takes ${Object.keys(systems).join(', ')}; not ${name}`)
  await inScratch(flags.dir, (directory) => measure(name, directory))
}
process.exit()

async function measure(name, directory) {
  const { system, open } = systems[name]
  const server = await open(directory)
  if (server === undefined) return console.log(`${name.padEnd(16)} left out: its server is not installed`)
  try {
    const [sizeBefore, cpuBefore] = [await server.size(), await server.cpuMs()]
    const startAt = Math.ceil((Date.now() + leadMs) / 1000) * 1000
    const common = { system, seconds, triggers, requests, processes, startAt, directory, ...server.flags }
    const timeoutMs = Number(seconds) * 1000 + 120_000
    // The first one creates the store.
    const children = [inChild('./day-child.mjs', { ...common, place: 0 }, { timeoutMs })]
    await new Promise((resolve) => setTimeout(resolve, leadMs / 3))
    for (let place = 1; place < Number(processes); place += 1)
      children.push(inChild('./day-child.mjs', { ...common, place }, { timeoutMs }))
    const results = await Promise.all(children)
    const broken = results.find(({ error }) => error !== undefined)
    if (broken !== undefined) throw new Error(broken.error)
    const serverMs = (await server.cpuMs()) - cpuBefore
    print(name, results, { bytes: (await server.size()) - sizeBefore, serverMs })
  } finally {
    await server.stop()
  }
}

function print(name, results, { bytes, serverMs }) {
  const lateness = results.flatMap((result) => result.lateness)
  const sum = (key) => results.reduce((total, result) => total + result[key], 0)
  const runs = lateness.length
  const figures = [
    runs,
    sum('attempts'),
    percentile(lateness, 0.5),
    percentile(lateness, 0.99),
    lateness.reduce((most, one) => Math.max(most, one), 0),
    (sum('cpuUs') / runs).toFixed(0),
    ((serverMs * 1000) / runs).toFixed(0),
    (bytes / runs).toFixed(0),
  ]
  console.log(line(name, ...figures.map(String)))
  if (results.some(({ isLate }) => isLate)) console.log(`${name}: a process was up only after the start`)
}

function line(name, ...cells) {
  return `${name.padEnd(16)}${cells.map((cell) => cell.padStart(11)).join('')}`
}

function ownFiles(directory, address) {
  return { flags: { address }, size: () => bytesIn(directory), cpuMs: () => 0, stop: () => undefined }
}

function bytesIn(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce(
      (sum, { parentPath, name }) =>
        sum + (statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    )
}

async function onPostgres(directory, schema) {
  const server = await startPostgres(directory)
  const client = await server.connect()
  const size = async () => {
    const { rows } = await client.query(
      `select coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::float8 as bytes from pg_class
       join pg_namespace on pg_namespace.oid = relnamespace where nspname = $1 and relkind = 'r'`,
      [schema],
    )
    return rows[0].bytes
  }
  return {
    flags: { url: server.url, address: `${server.url}&schema=${schema}` },
    size,
    cpuMs: server.cpuMs,
    stop: async () => {
      await client.end()
      await server.stop()
    },
  }
}

async function onRedis(directory) {
  const server = await startRedis(directory)
  if (server === undefined) return undefined
  const { Redis } = await import('ioredis')
  const client = new Redis({ port: server.port, host: '127.0.0.1', maxRetriesPerRequest: null })
  const of = async (part, name) => Number(new RegExp(`${name}:([\\d.]+)`).exec(await client.info(part))?.[1])
  return {
    flags: { redisPort: server.port },
    size: () => of('memory', 'used_memory'),
    cpuMs: async () => 1000 * ((await of('cpu', 'used_cpu_user')) + (await of('cpu', 'used_cpu_sys'))),
    stop: async () => {
      await client.quit()
      await server.stop()
    },
  }
}
