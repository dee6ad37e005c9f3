// The cost of watching a large bucket: requests, time and state of a sweep that finds everything, and of one that finds
// nothing.
// Usage: node bench/sensors-s3.mjs [--keys=100000] [--endpoint=<url> --bucket=<name> [--prefix=<prefix>]]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { fromDist, residentMiB } from './measure.mjs'

/** Sweeps a bucket twice in each way; default: on its own server. */
export async function measureS3Listing({ keys = 100_000, endpoint, bucket = 'bench', prefix, say }) {
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'
  const server = endpoint === undefined ? await startServer(keys) : undefined
  process.env.AWS_ACCESS_KEY_ID ??= 'bench'
  process.env.AWS_SECRET_ACCESS_KEY ??= 'bench'
  const place = { bucket, endpoint: endpoint ?? server.endpoint, ...(prefix === undefined ? {} : { prefix }) }
  try {
    const results = {}
    for (const [name, options] of Object.entries({ any: {}, ordered: { ordered: true } })) {
      const sweep = await sweeper({ ...place, ...options })
      results[name] = { first: await sweep(), atRest: await sweep() }
      say?.(`s3 ${name}`)
    }
    return { keys, ...results, residentMiB: await residentMiB() }
  } finally {
    server?.child.kill()
  }
}

async function startServer(keys) {
  const path = fileURLToPath(new URL('s3-server.mjs', import.meta.url))
  const child = spawn(process.execPath, [path, `--keys=${keys}`], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = await once(child.stdout, 'data')
  return { child, endpoint: `http://127.0.0.1:${String(port).trim()}` }
}

async function sweeper(options) {
  const { readS3Options } = await fromDist('features/sensors/kinds/s3/options.js')
  const { S3Listing } = await fromDist('features/sensors/kinds/s3/listing.js')
  const { sensorOver } = await fromDist('features/sensors/kinds/s3/sensor.js')
  const config = readS3Options(options)
  const listing = new S3Listing(config)
  let requests = 0
  const sensor = sensorOver({
    close: () => listing.close(),
    page: (request) => {
      requests += 1
      return listing.page(request)
    },
  })
  let { state } = await sensor.init(config)
  return async () => {
    requests = 0
    const result = { polls: 0, reported: 0, largestStateBytes: 0 }
    const startMs = performance.now()
    const cpu = process.cpuUsage()
    for (let more = true; more; ) {
      const { signal } = new AbortController()
      const polled = await sensor.poll(state, { config, now: new Date(), timezone: 'UTC', signal })
      if (polled.kind === 'error') throw new Error(polled.reason)
      const text = JSON.stringify(polled.state)
      state = JSON.parse(text)
      result.polls += 1
      result.reported += polled.observations?.length ?? 0
      result.largestStateBytes = Math.max(result.largestStateBytes, text.length)
      more = polled.more === true
    }
    const { user, system } = process.cpuUsage(cpu)
    const seconds = (performance.now() - startMs) / 1000
    return { ...result, requests, seconds, cpuSeconds: (user + system) / 1e6 }
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({
    options: {
      keys: { type: 'string', default: '100000' },
      endpoint: { type: 'string' },
      bucket: { type: 'string' },
      prefix: { type: 'string' },
    },
  })
  console.log(await measureS3Listing({ ...values, keys: Number(values.keys) }))
  process.exit(0)
}
