// One workload of one peer, in a process of its own.
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
    idleMs: { type: 'string', default: '2000' },
    capMs: { type: 'string', default: '8000' },
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
    const startMs = performance.now()
    await fill()
    return { perSecond: (count * 1000) / (performance.now() - startMs) }
  },
  perform: performAll,
  idle,
}
const result = await workloads[flags.workload]()
await Promise.race([peer.stop(), sleep(2000)])
report(result)

function payloadOf(i) {
  return { i, t: 'noop' }
}

/** Acknowledged jobs by second, with so many calls under way; over the cap the rate so far counts. */
async function enqueue(width) {
  const startMs = performance.now()
  let enqueued = 0
  await inFlight(count, width, async (i) => {
    if (performance.now() - startMs > capMs) return
    await peer.enqueueOne(payloadOf(i))
    enqueued += 1
  })
  return { perSecond: (enqueued * 1000) / (performance.now() - startMs) }
}

async function fill() {
  for (let first = 0; first < count; first += bulkSize) {
    const size = Math.min(bulkSize, count - first)
    await peer.enqueueMany(Array.from({ length: size }, (_, i) => payloadOf(first + i)))
  }
}

/** From the start of the worker until the storage, asked apart from the handler, holds no unfinished job. */
async function performAll() {
  await fill()
  const cpuBefore = process.cpuUsage()
  const startMs = performance.now()
  const elapsed = () => performance.now() - startMs
  await peer.start()
  while (seen.performed < count && elapsed() < capMs) await sleep(2)
  let left = await peer.remaining()
  while (left > 0 && elapsed() < capMs) {
    await sleep(1)
    left = await peer.remaining()
  }
  const ms = elapsed()
  const { user, system } = process.cpuUsage(cpuBefore)
  const done = count - left
  return { perSecond: (done * 1000) / ms, cpuUsEach: (user + system) / done }
}

/** What a worker without work costs, and how long one job then takes from the call to the handler. */
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
