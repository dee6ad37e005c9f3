// Measures a store with or without a history: how long claims take, or how long reads and pruning take.
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { dist, fromDist, median, percentile, report } from './measure.mjs'

const { values: flags } = parseArgs({
  options: {
    task: { type: 'string' },
    url: { type: 'string' },
    directory: { type: 'string' },
    triggers: { type: 'string', default: '10' },
  },
})
process.env.XDG_STATE_HOME = flags.directory
const tasks = { prepare, claim, read, prune }
report(await tasks[flags.task]())

/** Creates the store, with triggers that are defined and then ended: the history refers to their versions. */
async function prepare() {
  const { rota } = await fromDist('index.js')
  for (const triggers of [Number(flags.triggers), 0]) {
    const app = rota({ app: 'bench', store: flags.url })
    const job = app.job('noop', () => undefined)
    for (let i = 0; i < triggers; i += 1)
      app.schedule(`often-${i}`, { job, cron: '* * * * *', timezone: 'UTC' })
    await app.start({ roles: { worker: false } })
    await app.stop()
  }
  return {}
}

/** Turns of a worker that end ten runs and claim the next ten, one after the other, on the store without an engine. */
async function claim() {
  const [group, count] = [10, 10_000]
  const { store, clock } = await opened()
  const { jobDefaults } = await fromDist('kernel/job/job.js')
  const { randomRunId } = await fromDist('kernel/identity/identity.js')
  const now = clock.now()
  await store.defineJobs({
    source: 'code:claims',
    jobs: [{ ...jobDefaults, name: 'claimed' }],
    queues: [],
    now,
  })
  await store.register({
    id: `w${now}`,
    host: 'here',
    pid: process.pid,
    version: '0',
    now,
    leaseMs: 3_600_000,
  })
  for (let i = 0; i < count; i += 1000) {
    const aRun = () => ({ id: randomRunId(now), job: 'claimed', origin: 'enqueue', priority: 0, slots: [] })
    const runs = Array.from({ length: 1000 }, () => ({ ...aRun(), dueAt: now, runAt: now }))
    await store.enqueue({ runs, now })
  }
  const took = []
  let finished = []
  for (;;) {
    const claimRequest = { jobs: ['claimed'], slots: group, prefetch: 0 }
    const startMs = performance.now()
    const { claims } = await store.turn({ worker: `w${now}`, now: clock.now(), finished, claimRequest })
    took.push(performance.now() - startMs)
    if (claims.length === 0) break
    finished = claims.map(({ run, attempt }) => {
      return { run, attempt, outcome: { end: 'done', state: 'done' }, startedAt: now, endedAt: clock.now() }
    })
  }
  await store.close()
  return { claimP50Ms: percentile(took, 0.5), claimP99Ms: percentile(took, 0.99) }
}

/** The queries of people and pages, each a few times: the median in ms. */
async function read() {
  const { store } = await opened()
  const [{ id }] = await store.runs({ limit: 1 })
  const cli = (...args) => {
    const answer = spawnSync(process.execPath, [
      resolve(dist, 'cli/main.js'),
      ...args,
      `--store=${flags.url}`,
    ])
    if (answer.status !== 0) throw new Error(`rota ${args.join(' ')}: ${answer.stderr.toString()}`)
  }
  const results = {
    'counts()': await medianMs(() => store.counts()),
    'the newest 50 runs': await medianMs(() => store.runs({ limit: 50 })),
    'the newest 50 runs of a trigger': await medianMs(() => store.runs({ limit: 50, trigger: 'often-0' })),
    'the newest 50 failed ones': await medianMs(() => store.runs({ limit: 50, state: 'failed' })),
    'one run by its id': await medianMs(() => store.run(id)),
    'rota runs': await medianMs(() => cli('runs'), 3),
    'rota why, a day': await medianMs(() => cli('why', 'often-0', '-24h'), 3),
    'rota runs --help, which asks nobody': await medianMs(() => cli('runs', '--help'), 3),
  }
  await store.close()
  return results
}

/** Removes the oldest runs in batches, as upkeep does. */
async function prune() {
  const { store, clock } = await opened()
  const limit = 1000
  const took = []
  for (let i = 0; i < 10; i += 1) {
    const startMs = performance.now()
    const gone = await store.prune({ before: clock.now(), limit, now: clock.now() })
    if (gone !== limit) throw new Error(`pruned ${gone}`)
    took.push(performance.now() - startMs)
  }
  await store.close()
  return { pruneMs: median(took) }
}

async function opened() {
  const { openPostgresStore } = await fromDist('store/postgres/postgres-store.js')
  const { systemClock } = await fromDist('time/clock.js')
  return { store: await openPostgresStore({ url: flags.url, clock: systemClock }), clock: systemClock }
}

async function medianMs(action, times = 9) {
  const took = []
  for (let i = 0; i < times; i += 1) {
    const startMs = performance.now()
    await action()
    took.push(performance.now() - startMs)
  }
  return median(took)
}
