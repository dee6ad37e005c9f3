// One side of a steady stream: records runs at a rate, or performs them and regularly reports how long that took.
import { parseArgs } from 'node:util'
import { fromDist, percentile, report, sleep } from './measure.mjs'

const { values: flags } = parseArgs({
  options: {
    task: { type: 'string' },
    url: { type: 'string' },
    directory: { type: 'string' },
    rate: { type: 'string', default: '500' },
    seconds: { type: 'string', default: '180' },
    windowMs: { type: 'string', default: '10000' },
  },
})
process.env.XDG_STATE_HOME = flags.directory
const endMs = performance.now() + Number(flags.seconds) * 1000
const { rota } = await fromDist('index.js')
const app = rota({ app: 'bench', store: flags.url, concurrency: 10 })
const starts = []
const turns = []
let performed = 0
const job = app.job('noop', ({ payload }) => {
  starts.push(epochMs() - payload.at)
  performed += 1
})

const tasks = { produce, work }
await tasks[flags.task]()

/** Records `rate` runs per second with one call each; catches up if it falls behind. */
async function produce() {
  await app.start({ roles: { scheduler: false, worker: false } })
  const cpuBefore = process.cpuUsage()
  const startMs = performance.now()
  const stepMs = 10
  let sent = 0
  while (performance.now() < endMs) {
    const wanted = Math.floor(((performance.now() - startMs) * Number(flags.rate)) / 1000)
    const calls = Array.from({ length: wanted - sent }, () => app.enqueue(job, { at: epochMs() }))
    sent = wanted
    await Promise.all(calls)
    await sleep(stepMs)
  }
  const ms = performance.now() - startMs
  const { user, system } = process.cpuUsage(cpuBefore)
  await app.stop()
  report({ sent, perSecond: (sent * 1000) / ms, cpuPercent: (user + system) / 10 / ms })
}

/** Prints one line for each window; the reader then queries the server about the same moment. */
async function work() {
  const store = await app.store()
  timeTurns(store)
  await app.start()
  while (performance.now() < endMs) {
    await sleep(Number(flags.windowMs))
    process.stdout.write(`${JSON.stringify({ window: windowOf() })}\n`)
  }
  await app.stop()
  report({ performed })
}

/** Only turns with claims: claims become slower if they must read dead rows. */
function timeTurns(store) {
  const turn = store.turn.bind(store)
  store.turn = async (request) => {
    const startMs = performance.now()
    const answer = await turn(request)
    if (answer.claims.length > 0) turns.push(performance.now() - startMs)
    return answer
  }
}

function windowOf() {
  const [waits, claims] = [starts.splice(0), turns.splice(0)]
  const { user, system } = process.cpuUsage()
  return {
    performed,
    cpuMs: (user + system) / 1000,
    claims: claims.length,
    claimP50Ms: percentile(claims, 0.5),
    claimP99Ms: percentile(claims, 0.99),
    startP50Ms: percentile(waits, 0.5),
    startP99Ms: percentile(waits, 0.99),
  }
}

/** The same in every process of this machine. */
function epochMs() {
  return performance.timeOrigin + performance.now()
}
