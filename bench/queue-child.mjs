// One workload of one peer, in its own process.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { cpuWhile, inFlight, percentile, report, residentMiB, sleep } from './measure.mjs'

const { values: flags } = parseArgs({
  options: {
    peer: { type: 'string' },
    variant: { type: 'string' },
    workload: { type: 'string' },
    count: { type: 'string' },
    concurrency: { type: 'string', default: '10' },
    directory: { type: 'string' },
    redisPort: { type: 'string' },
    url: { type: 'string' },
    schema: { type: 'string' },
    joins: { type: 'string' },
    kind: { type: 'string', default: 'plain' },
    processes: { type: 'string', default: '4' },
    idleMs: { type: 'string', default: '2000' },
    capMs: { type: 'string', default: '20000' },
  },
})
const count = Number(flags.count)
const capMs = Number(flags.capMs)
const bulkSize = 1000

const seen = { performed: 0 }
let onPerform = () => undefined
const { open } = await import(`./peers/${flags.peer}.mjs`)
const peer = await open({
  variant: flags.variant,
  directory: flags.directory,
  redisPort: flags.redisPort,
  url: flags.url,
  schema: flags.schema,
  joins: flags.joins === 'yes',
  kind: flags.kind,
  concurrency: Number(flags.concurrency),
  perform: () => {
    seen.performed += 1
    onPerform()
  },
})

const workloads = {
  'enqueue-one': () => enqueue(1),
  'enqueue-50': () => enqueue(50),
  'enqueue-bulk': async () => {
    const cpuBefore = process.cpuUsage()
    const startMs = performance.now()
    await fill()
    return {
      perSecond: (count * 1000) / (performance.now() - startMs),
      cpuUsEach: cpuUsSince(cpuBefore) / count,
    }
  },
  perform: performAll,
  'perform-many': performWithMany,
  idle,
}
const result = await workloads[flags.workload]()
await Promise.race([peer.stop(), sleep(2000)])
report(result)

function payloadOf(i) {
  return { i, t: 'noop' }
}

/** Acknowledged jobs per second, with `width` concurrent calls; beyond the time limit the rate so far counts. */
async function enqueue(width) {
  const cpuBefore = process.cpuUsage()
  const startMs = performance.now()
  let enqueued = 0
  const enqueueOne = async (i) => {
    await peer.enqueueOne(payloadOf(i))
    enqueued += 1
  }
  await inFlight(count, width, enqueueOne, () => performance.now() - startMs > capMs)
  return {
    perSecond: (enqueued * 1000) / (performance.now() - startMs),
    cpuUsEach: cpuUsSince(cpuBefore) / enqueued,
  }
}

function cpuUsSince(before) {
  const { user, system } = process.cpuUsage(before)
  return user + system
}

async function fill() {
  for (let first = 0; first < count; first += bulkSize) {
    const size = Math.min(bulkSize, count - first)
    await peer.enqueueMany(Array.from({ length: size }, (_, i) => payloadOf(first + i)))
  }
}

/** A server that was just filled has no statistics of its tables yet; a server that has run for a minute does. */
async function tidy() {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: flags.url })
  await client.connect()
  await client.query('vacuum analyze')
  await client.query('checkpoint')
  await client.end()
}

/** The time from the start of the worker until the storage, queried independently, has no unfinished job. */
async function performAll() {
  await fill()
  if (flags.url !== undefined) await tidy()
  const cpuBefore = process.cpuUsage()
  const startMs = performance.now()
  await peer.start()
  const { ms, done } = await untilNoneIsLeft(startMs, () => seen.performed)
  return { perSecond: (done * 1000) / ms, cpuUsEach: cpuUsSince(cpuBefore) / done }
}

async function untilNoneIsLeft(startMs, performed) {
  const elapsed = () => performance.now() - startMs
  while (performed() < count && elapsed() < capMs) await sleep(2)
  let left = await peer.remaining()
  while (left > 0 && elapsed() < capMs) {
    await sleep(1)
    left = await peer.remaining()
  }
  return { ms: elapsed(), done: count - left }
}

/** The same with several processes: all are connected before the common start; this one only fills and observes. */
async function performWithMany() {
  await fill()
  await tidy()
  const script = fileURLToPath(new URL('./queue-worker.mjs', import.meta.url))
  const own = ['peer', 'concurrency', 'directory', 'url', 'variant']
    .filter((name) => flags[name] !== undefined)
    .map((name) => `--${name}=${flags[name]}`)
  const workers = Array.from({ length: Number(flags.processes) }, () => workerOf(fork(script, own)))
  await Promise.all(workers.map(({ ready }) => ready))
  const startMs = performance.now()
  for (const { child } of workers) child.send('start')
  const sum = (name) => workers.reduce((total, { latest }) => total + latest[name], 0)
  const { ms, done } = await untilNoneIsLeft(startMs, () => sum('performed'))
  for (const { child } of workers) child.kill('SIGKILL')
  return { perSecond: (done * 1000) / ms, cpuUsEach: sum('cpuUs') / done }
}

/** A process that performs, with its last report. */
function workerOf(child) {
  const worker = { child, latest: { performed: 0, cpuUs: 0 } }
  worker.ready = new Promise((resolve, reject) => {
    child.on('message', (message) => {
      worker.latest = message
      resolve()
    })
    child.once('exit', (code) => reject(new Error(`a worker ended with ${code} before the start`)))
  })
  return worker
}

/** The cost of an idle worker, and how long one job then takes from the call to the handler. */
async function idle() {
  await peer.start()
  await sleep(600)
  const cpuPercent = await cpuWhile(Number(flags.idleMs))
  const rssMiB = await residentMiB()
  const warmUp = 20
  const latencies = []
  const startMs = performance.now()
  for (let i = 0; i < count + warmUp && performance.now() - startMs < 2 * capMs; i += 1) {
    const calledMs = performance.now()
    const performedMs = new Promise((resolve) => {
      onPerform = () => resolve(performance.now())
    })
    await peer.enqueueOne(payloadOf(i))
    const ms = (await performedMs) - calledMs
    if (i >= warmUp) latencies.push(ms)
    // The same uneven gaps for every peer.
    await sleep(1 + ((i * 7) % 5))
  }
  return { cpuPercent, rssMiB, p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99) }
}
