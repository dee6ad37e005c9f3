// One process of the measurement by kind of run: records runs, or performs them together with others until it is
// stopped.
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
// The highest possible rate: this measures the cost of the limit, not the wait.
const rate = { max: 1_000_000, per: '1s', burst: 1_000_000 }
// Only the jobs of one kind exist, because a worker with a limited job also looks for its runs.
const make = {
  plain: () => app.job('plain', perform),
  log: () => app.job('log', performAndLog),
  keyed: () => app.job('keyed', perform),
  limited: () => app.job('limited', perform, { concurrency: 50 }),
  queued: () => app.job('queued', perform, { queue: 'few' }),
  rated: () => app.job('rated', perform, { limit: rate }),
  'rated-keys': () => app.job('rated-keys', perform, { limitPerKey: rate }),
  promised: () => app.job('promised', perform, { sla: { startedWithin: '5m', finishedWithin: '1h' } }),
  fresh: () => app.job('fresh', perform, { sla: { notOlderThan: '1h' } }),
}
const hourMs = 3_600_000
const keyOf = (i) => `key-${i % 1000}`
const kinds = {
  plain: { job: 'plain' },
  log: { job: 'log' },
  key: {
    job: 'keyed',
    optionsOf: (i) => ({ concurrencyKey: keyOf(i) }),
    slotsOf: (i) => [{ key: `key:keyed=${keyOf(i)}`, limit: 1 }],
  },
  limit: { job: 'limited', slotsOf: () => [{ key: 'job:limited', limit: 50 }] },
  queue: { job: 'queued' },
  rate: { job: 'rated' },
  'rate-key': {
    job: 'rated-keys',
    optionsOf: (i) => ({ concurrencyKey: keyOf(i) }),
    slotsOf: (i) => [{ key: `key:rated-keys=${keyOf(i)}`, limit: 1 }],
  },
  // Plain runs of a worker that also has a limited job, of which no run waits.
  beside: { job: 'plain', beside: 'rated' },
  // Only its due times are measured.
  calendar: { job: 'plain' },
  trigger: {
    job: 'plain',
    slotsOf: (i) => [{ key: `trigger:trigger-${i}`, limit: 1 }],
    more: (i) => ({ origin: 'trigger', trigger: `trigger-${i}`, version: 1 }),
  },
  unique: { job: 'plain', optionsOf: (i) => ({ uniqueKey: `unique-${i}` }) },
  // No deadline passes while runs are performed; judging deadlines is measured separately.
  sla: { job: 'promised', more: (_, dueAt) => ({ deadlines: deadlinesOf(dueAt) }) },
  fresh: { job: 'fresh', more: () => ({ endEffect: 'run+job' }) },
}
const { job: name, beside, optionsOf, slotsOf, more } = kinds[flags.kind]
const job = make[name]()
if (beside !== undefined) make[beside]()
const count = Number(flags.count)

const tasks = {
  // The store is created before the others start, so that they do not wait for each other's definitions.
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
  plan: async () => {
    const names = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
    // A day that the measurement does not reach: it measures the check of the calendars, and excludes nothing.
    app.calendars.define('off', { weekdays: [names[(new Date().getUTCDay() + 3) % 7]] })
    app.calendars.define('holidays', { days: ['2001-01-01', '2001-12-25'] })
    const rules = flags.kind === 'calendar' ? { calendar: { exclude: ['off', 'holidays'] } } : {}
    for (let i = 0; i < 100; i += 1)
      app.schedule(`trigger-${i}`, { job, cron: '* * * * *', overlap: 'allow', ...rules })
    await app.start({ roles: { scheduler: true, worker: false } })
    return await planDueTimes(await app.store())
  },
  // Runs that ended in time long ago, whose deadlines are not judged yet.
  judge: async () => {
    const store = await app.store()
    const now = Date.now() - 10 * hourMs
    const worker = { id: 'bench', host: 'bench', pid: process.pid, version: '0', now, leaseMs: 20 * hourMs }
    await store.register(worker)
    for (let i = 0; i < count; i += 1000) {
      await fill(store, i, Math.min(count, i + 1000), now)
      const claimRequest = { jobs: [job.name], slots: 1000, prefetch: 0 }
      const { claims } = await store.turn({ worker: 'bench', now, finished: [], claimRequest })
      const outcome = { end: 'done', state: 'done' }
      const finished = claims.map(({ run, attempt }) => ({
        run,
        attempt,
        outcome,
        startedAt: now,
        endedAt: now,
      }))
      await store.turn({ worker: 'bench', now, finished, claimRequest: undefined })
    }
    await app.start({ roles: { scheduler: true, worker: false } })
    const startMs = performance.now()
    while ((await store.stateEntries({ kind: 'deadline', limit: 1 })).length > 0) await sleep(20)
    return { perSecond: (2 * count * 1000) / (performance.now() - startMs) }
  },
  // Every process has started before the first run begins: the start is not measured.
  perform: async () => {
    await app.start()
    process.send({ performed })
    // Through the app, not the store, so that the worker of this process is woken, too.
    process.once('message', () => app.switches.on('worker'))
    // The parent process may have ended.
    setInterval(() => process.send({ performed }, () => undefined), 10)
    await new Promise((resolve) => process.once('disconnect', resolve))
    process.exit(0)
  },
}
const result = await tasks[flags.task]()
await Promise.race([app.stop(), sleep(2000)])
report(result)

/** Plans and records due times minute by minute, those of all triggers as one transaction. */
async function planDueTimes(store) {
  const { planTick } = await fromDist('kernel/tick/tick.js')
  let planned = 0
  let now = Date.now()
  const startMs = performance.now()
  while (planned < count) {
    now += 60_000
    const ticks = (await store.due({ now, limit: 100 })).map((due) => planTick(due, now))
    const answers = await store.tick(ticks)
    planned += ticks.reduce((sum, { runs }, i) => sum + (answers[i] === 'ticked' ? runs.length : 0), 0)
  }
  return { perSecond: (planned * 1000) / (performance.now() - startMs) }
}

/** Records a thousand runs in one transaction. */
async function fill(store, from, until, now = Date.now()) {
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
    ...more?.(i, now),
  }))
  await store.enqueue({ runs, now })
}

/** The deadlines of one run, as the app would write them. */
function deadlinesOf(dueAt) {
  const promise = (rule, withinMs) => ({
    rule,
    of: 'job',
    name: 'promised',
    deadlineAt: dueAt + withinMs,
    withinMs,
  })
  return [promise('started-within', hourMs / 12), promise('finished-within', hourMs)]
}
