// Every policy in one app that is killed: each attempt writes one line to a file.
import { appendFileSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { PermanentError, RetryAfter, Snooze } from 'rota'

const env = process.env
const { fromAt, endAt, url, limits, stretches, pairs, promises } = JSON.parse(env.KILL_TEST_WORLD)
const end = new Date(endAt)
const isChanged = readFileSync(env.KILL_TEST_STAGE, 'utf8') === 'changed'

async function work(run) {
  appendFileSync(env.KILL_TEST_PERFORMED, `${run.id} ${run.attempt}\n`)
  await wait(Math.random() * 40, undefined, { signal: run.signal })
}

/** The result of a run follows from its id. */
async function mail(run) {
  await work(run)
  const draw = Number.parseInt(run.id.slice(-2), 36) % 8
  if (draw === 0) throw new Error('never works')
  if (draw === 1 && run.attempt === 1) throw new RetryAfter('100ms', 'busy')
  if (draw === 2 && run.attempt === 1) throw new Snooze('150ms', 'not yet')
  if (draw === 3) throw new PermanentError('no such mailbox')
}

async function broken(run) {
  await work(run)
  throw new RangeError('always')
}

const text = (ms) => new Date(fromAt + ms).toISOString().slice(0, 19)
const times = ({ fromMs, untilMs }) => ({ from: text(fromMs), to: text(untilMs) })

/** One for each catch-up with each overlap; calendars, blackouts and delays by number. */
const triggers = pairs.map(([mode, overlap], i) => [
  `${mode}-${overlap}`,
  {
    job: 'work',
    every: '700ms',
    end,
    overlap,
    catchUp: { mode, grace: '500ms', ...(mode === 'all' ? { maxRuns: 5 } : {}) },
    ...[
      {},
      { timezone: 'UTC', calendar: { exclude: ['break'] } },
      { timezone: 'UTC', blackouts: [{ ...times(stretches.blackout), note: 'backup' }] },
      { timezone: 'UTC', calendar: { include: ['open'] }, blackouts: [times(stretches.blackout)] },
    ][i % 4],
    ...(i % 3 === 0 ? { jitter: '300ms' } : {}),
    ...(i % 5 === 0 ? { spread: '400ms' } : {}),
  },
])

const everyOne = { job: 'work', catchUp: { mode: 'all', maxRuns: 10_000 }, overlap: 'queue-all' }
const rules = { maxCrashes: 100 }
const sla = { startedWithin: promises.startedWithinMs, finishedWithin: promises.finishedWithinMs }

export default {
  app: 'policies',
  store: env.KILL_TEST_STORE,
  lease: '1s',
  concurrency: 20,
  calendars: {
    break: { ranges: [times(stretches.break)] },
    open: { ranges: [times(stretches.open)] },
  },
  queues: { post: { limit: limits.queue, concurrency: 6 } },
  jobs: {
    work: { handler: work, ...rules, retention: '1m' },
    mail: {
      handler: mail,
      ...rules,
      queue: 'post',
      retry: { attempts: 2, delay: '50ms', not: ['TypeError'] },
      limit: limits.job,
      limitPerKey: limits.key,
      concurrencyPerKey: 3,
      deadLetter: 'letters',
      retention: { done: { count: 10 }, failed: { age: '1m' } },
    },
    letters: { handler: work, ...rules, queue: 'post' },
    broken: { handler: broken, ...rules },
    bursts: { handler: work, ...rules },
  },
  assets: {
    hours: { partitions: 'hourly', materialize: work, ...rules },
    sums: {
      partitions: 'daily',
      deps: ['hours'],
      materialize: work,
      ...rules,
      sla: { ...sla, notOlderThan: promises.notOlderThanMs },
    },
  },
  triggers: {
    ...Object.fromEntries(triggers),
    counted: { ...everyOne, every: '300ms', count: 7 },
    bounded: {
      ...everyOne,
      cron: '* * * * * *',
      start: new Date(fromAt + 2000),
      end: new Date(endAt - 1000),
    },
    mailing: {
      ...everyOne,
      job: 'mail',
      every: '200ms',
      end,
      ping: `${url}/ping`,
      sla,
    },
    pausing: { job: 'broken', every: '300ms', end, pauseAfter: 3 },
    changing: { ...everyOne, every: isChanged ? '400ms' : '600ms', end },
    ...(isChanged
      ? { added: { ...everyOne, every: '500ms', end } }
      : { removed: { ...everyOne, every: '500ms', end } }),
    past: { job: 'work', cron: '* * * * *', timezone: 'UTC', overlap: 'allow' },
  },
  alerts: {
    channels: { hook: { webhook: { url: `${url}/alerts`, secret: { env: 'KILL_TEST_SECRET' } } } },
    rules: {
      failures: { on: ['failure', 'quarantined'], channels: ['hook'], group: '200ms', quiet: '0s' },
      breaches: { on: ['sla'], channels: ['hook'], group: '200ms', quiet: '0s' },
      pauses: { on: ['paused'], channels: ['hook'], group: '0s', quiet: '0s' },
      others: { on: ['missed', 'worker-lost'], channels: ['hook'], group: '200ms', quiet: '1s' },
    },
  },
}
