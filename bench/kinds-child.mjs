// One process of the measurement by kind of run: records runs, or performs together with others until it is told to end.
import { parseArgs } from 'node:util'
import { fromDist, inFlight, report, sleep } from './measure.mjs'

const { values: flags } = parseArgs({
  options: {
    task: { type: 'string' },
    kind: { type: 'string' },
    store: { type: 'string' },
    count: { type: 'string', default: '0' },
    concurrency: { type: 'string', default: '20' },
    directory: { type: 'string' },
  },
})
process.env.XDG_STATE_HOME = flags.directory
const { rota } = await fromDist('index.js')
const { randomRunId } = await fromDist('kernel/identity/identity.js')
const app = rota({
  app: 'bench',
  store: flags.store,
  concurrency: Number(flags.concurrency),
  queues: { few: { concurrency: 50 } },
})
let performed = 0
const perform = () => {
  performed += 1
}
const performAndLog = (run) => {
  run.log('one line of a log')
  run.log('and one more')
  performed += 1
}
const jobs = {
  plain: app.job('plain', perform),
  log: app.job('log', performAndLog),
  keyed: app.job('keyed', perform),
  limited: app.job('limited', perform, { concurrency: 50 }),
  queued: app.job('queued', perform, { queue: 'few' }),
  // As many as there may be: what is measured is the limit, and not the wait.
  rated: app.job('rated', perform, { limit: { max: 1_000_000, per: '1s', burst: 1_000_000 } }),
}
const keyOf = (i) => `key-${i % 1000}`
const kinds = {
  plain: { job: jobs.plain },
  log: { job: jobs.log },
  key: {
    job: jobs.keyed,
    optionsOf: (i) => ({ concurrencyKey: keyOf(i) }),
    slotsOf: (i) => [{ key: `key:keyed=${keyOf(i)}`, limit: 1 }],
  },
  limit: { job: jobs.limited, slotsOf: () => [{ key: 'job:limited', limit: 50 }] },
  queue: { job: jobs.queued },
  rate: { job: jobs.rated },
  trigger: {
    job: jobs.plain,
    slotsOf: (i) => [{ key: `trigger:trigger-${i}`, limit: 1 }],
    more: (i) => ({ origin: 'trigger', trigger: `trigger-${i}`, version: 1 }),
  },
  unique: { job: jobs.plain, optionsOf: (i) => ({ uniqueKey: `unique-${i}` }) },
}
const { job, optionsOf, slotsOf, more } = kinds[flags.kind]
const count = Number(flags.count)

const tasks = {
  // What the others open is made before they start, so that they do not wait for each other's definitions.
  prepare: async () => {
    await app.start()
    await sleep(50)
    return {}
  },
  fill: async () => {
    const store = await app.store()
    for (let i = 0; i < count; i += 1000) await fill(store, i, Math.min(count, i + 1000))
    await store.hold({ target: 'switch:worker', now: Date.now(), actor: 'bench', note: '' })
    return {}
  },
  enqueue: async () => {
    const startMs = performance.now()
    await inFlight(count, 50, (i) => app.enqueue(job, { i }, optionsOf?.(i)))
    return { perSecond: (count * 1000) / (performance.now() - startMs) }
  },
  // Every process has started before the first run begins: starting is not what is measured.
  perform: async () => {
    await app.start()
    const store = await app.store()
    process.send({ performed })
    process.once('message', () => store.release({ target: 'switch:worker', now: Date.now(), catchUp: false }))
    // Whoever counts may be gone already.
    setInterval(() => process.send({ performed }, () => undefined), 10)
    await new Promise((resolve) => process.once('disconnect', resolve))
    process.exit(0)
  },
}
const result = await tasks[flags.task]()
await Promise.race([app.stop(), sleep(2000)])
report(result)

/** A thousand runs as one transaction records them. */
async function fill(store, from, until) {
  const now = Date.now()
  const places = Array.from({ length: until - from }, (_, i) => from + i)
  const runs = places.map((i) => ({
    id: randomRunId(now),
    job: job.name,
    origin: 'enqueue',
    dueAt: now,
    runAt: now,
    priority: 0,
    payload: { i },
    slots: slotsOf?.(i) ?? [],
    ...more?.(i),
  }))
  await store.enqueue({ runs, now })
}
