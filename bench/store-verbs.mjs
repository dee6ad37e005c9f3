// The verbs of the SQL stores in two builds, alternating in one process: the effect of a change of the store.
// Usage: node bench/store-verbs.mjs --before=<dist of the other build> [--store=sqlite|postgres] [--rounds=40] [--only=<pattern>]
// Prints the least time per item of all rounds (CPU time for SQLite, elapsed time for Postgres), their ratio, and the
// median of the ratios of the rounds, which a loaded machine affects less. Requests also have older names (`gates`,
// `want`), which newer builds ignore.
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { randomRunId } from '../dist/kernel/identity/identity.js'
import { jobDefaults } from '../dist/kernel/job/job.js'
import { systemClock } from '../dist/time/clock.js'
import { dist, inScratch, median } from './measure.mjs'
import { startPostgres } from './postgres-server.mjs'

const { values } = parseArgs({
  options: {
    before: { type: 'string', default: dist },
    store: { type: 'string', default: 'sqlite' },
    rounds: { type: 'string', default: '40' },
    only: { type: 'string', default: '.' },
    dir: { type: 'string' },
  },
})
const builds = { before: resolve(values.before), after: dist }
const isSqlite = values.store === 'sqlite'
const only = new RegExp(values.only)
const now = systemClock.now()
const later = now + 1e10
const source = 'code:bench'

await inScratch(values.dir, async (directory) => {
  const server = isSqlite ? undefined : await startPostgres(directory)
  try {
    const stores = {
      before: await open('before', directory, server),
      after: await open('after', directory, server),
    }
    const found = await measure({ before: casesOf(stores.before), after: casesOf(stores.after) })
    print(found)
    await stores.before.close()
    await stores.after.close()
  } finally {
    await server?.stop()
  }
})
process.exit()

async function open(name, directory, server) {
  const load = (path) => import(pathToFileURL(join(builds[name], path)).href)
  const common = { clock: systemClock, durability: 'normal' }
  if (isSqlite) {
    const { openSqliteStore } = await load('store/sqlite/sqlite-store.js')
    return openSqliteStore({ ...common, path: join(directory, `${name}.db`) })
  }
  const { openPostgresStore } = await load('store/postgres/postgres-store.js')
  return openPostgresStore({ ...common, url: `${server.url}&schema=bench_${name}` })
}

async function measure(cases) {
  await cases.before.prepare()
  await cases.after.prepare()
  const found = new Map()
  for (let round = 0; round < Number(values.rounds); round++) {
    const order = round % 2 === 0 ? ['before', 'after'] : ['after', 'before']
    for (const what of Object.keys(cases.before.all)) {
      for (const name of order) {
        const { count, setUp, act } = cases[name].all[what]
        const isWanted = only.test(what)
        if (!isWanted) continue
        const input = await setUp?.()
        const start = spent()
        await act(input)
        const times = found.get(what) ?? { before: [], after: [] }
        times[name].push((spent() - start) / count)
        found.set(what, times)
      }
    }
  }
  return found
}

/** CPU time of this process in microseconds; elapsed time if the server does most of the work. */
function spent() {
  if (!isSqlite) return systemClock.monotonicMs() * 1000
  const { user, system } = process.cpuUsage()
  return user + system
}

function print(found) {
  const titles = ['before', 'after', 'ratio', 'median of ratios'].map((title) => title.padStart(9)).join(' ')
  console.log(`${'µs an item, least'.padEnd(32)} ${titles}`)
  for (const [what, { before, after }] of found) {
    const least = [Math.min(...before), Math.min(...after)]
    const figures = least.map((us) => us.toFixed(us < 20 ? 2 : 1))
    const ratios = [least[1] / least[0], median(after.map((us, round) => us / before[round]))]
    const texts = [...figures, ...ratios.map((ratio) => ratio.toFixed(2))]
    console.log(`${what.padEnd(32)} ${texts.map((text) => text.padStart(9)).join(' ')}`)
  }
}

function casesOf(store) {
  let number = 0
  const aRun = (more = {}) => {
    const times = { dueAt: now, runAt: now }
    return {
      id: randomRunId(now),
      job: 'noop',
      origin: 'enqueue',
      ...times,
      priority: 0,
      gates: [],
      slots: [],
      payload: { n: number++ },
      ...more,
    }
  }
  const runs = (count, more) => Array.from({ length: count }, () => aRun(more))
  const enqueue = (batch) => store.enqueue({ runs: batch, now })
  const enqueued = async (count, more) => {
    const batch = runs(count, more)
    await enqueue(batch)
    return batch
  }
  const perform = async (group, job) => {
    for (let finished = []; ; ) {
      const claimRequest = { jobs: [job], slots: group, prefetch: 0 }
      const want = { jobs: [job], slots: group, ahead: 0 }
      const { claims } = await store.turn({ worker: 'w', now, finished, claimRequest, want })
      if (claims.length === 0) return
      finished = claims.map(finishedOf)
    }
  }
  const define = (count, nextAt = later) =>
    store.defineTriggers(Array.from({ length: count }, () => definition(`trigger-${number++}`, nextAt)))
  const tickAll = async (count) => {
    const due = await store.due({ now, limit: count })
    await store.tick(due.map((each) => tickOf(each, aRun)))
  }
  const times = async (count, ask) => {
    for (let i = 0; i < count; i++) await ask()
  }
  const gates = [{ key: 'job:slot', limit: 1000 }]
  const slots = { job: 'slot', gates, slots: gates }
  const scale = isSqlite ? 1 : 0.25
  const n = (count) => Math.max(1, Math.round(count * scale))
  const a = (count, act, setUp) => ({ count: n(count), act: (input) => act(n(count), input), setUp })
  return {
    prepare: async () => {
      const jobs = [
        { ...jobDefaults, name: 'noop' },
        { ...jobDefaults, name: 'slot', concurrency: 1000 },
        { ...jobDefaults, name: 'limited', queue: 'few' },
        { ...jobDefaults, name: 'held' },
      ]
      await store.defineJobs({ source, jobs, queues: [{ name: 'few', concurrency: 5000 }], now })
      await store.register({ id: 'w', host: 'here', pid: 1, version: '0', now, leaseMs: 3_600_000 })
      await store.register({ id: 'h', host: 'here', pid: 2, version: '0', now, leaseMs: 3_600_000 })
      await define(1000)
      await enqueued(100, { job: 'held' })
      const held = { jobs: ['held'], slots: 100 }
      await store.turn({
        worker: 'h',
        now,
        finished: [],
        claimRequest: { ...held, prefetch: 0 },
        want: { ...held, ahead: 0 },
      })
    },
    all: {
      'enqueue by 1000': a(
        1000,
        (count, batch) => enqueue(batch.slice(0, count)),
        () => runs(n(1000)),
      ),
      'perform by 500': a(
        1000,
        () => perform(500, 'noop'),
        () => enqueued(n(1000)),
      ),
      'perform by 10': a(
        500,
        () => perform(10, 'noop'),
        () => enqueued(n(500)),
      ),
      'perform by 1': a(
        100,
        () => perform(1, 'noop'),
        () => enqueued(n(100)),
      ),
      'perform with a slot': a(
        300,
        () => perform(50, 'slot'),
        () => enqueued(n(300), slots),
      ),
      'perform of a limited queue': a(
        300,
        () => perform(50, 'limited'),
        () => enqueued(n(300), { job: 'limited' }),
      ),
      'enqueue with a slot': a(
        300,
        (_, batch) => enqueue(batch),
        () => runs(n(300), slots),
      ),
      'perform these': a(300, () => perform(50, 'slot')),
      'enqueue at mixed times': a(
        500,
        (_, batch) => enqueue(batch),
        () => runs(n(500)).map((run, i) => ({ ...run, runAt: later + i })),
      ),
      'enqueue with labels': a(
        300,
        (_, batch) => enqueue(batch),
        () => runs(n(300), { labels: { a: 'b' }, runAt: later }),
      ),
      'enqueue, 50 in flight': a(
        500,
        async (count, batch) => {
          for (let i = 0; i < count; i += 50)
            await Promise.all(batch.slice(i, i + 50).map((run) => enqueue([run])))
        },
        () => runs(n(500), { job: 'held' }),
      ),
      'enqueue one by one': a(
        200,
        async (_, batch) => {
          for (const run of batch) await enqueue([run])
        },
        () => runs(n(200), { job: 'held' }),
      ),
      'idle turn': a(200, (count) => times(count, () => turnOf(store))),
      'define triggers': a(400, (count) => define(count)),
      'due and tick': a(400, tickAll, () => define(n(400), now)),
      'nothing due': a(200, (count) => times(count, () => store.due({ now: now - 1e9, limit: 100 }))),
      cancel: a(
        200,
        (_, batch) => Promise.all(batch.map(({ id }) => store.cancel({ run: id, now, reason: 'x' }))),
        () => enqueued(n(200), { runAt: later }),
      ),
      'list 100 runs': a(20, (count) => times(count, () => store.runs({ limit: 100 }))),
      'list 100 running runs': a(20, (count) =>
        times(count, () => store.runs({ state: 'running', limit: 100 })),
      ),
      'list jobs': a(40, (count) => times(count, () => store.jobs())),
      'attempts of a run': a(
        40,
        (count, [run]) => times(count, () => store.attempts(run.id)),
        () => store.runs({ limit: 1 }),
      ),
      'log line': a(
        1000,
        (count, [run]) => store.log(Array.from({ length: count }, (_, i) => lineOf(run.id, i))),
        () => enqueued(1, { runAt: later }),
      ),
    },
  }
}

function turnOf(store) {
  const request = { jobs: ['noop'], slots: 10 }
  const claimRequest = { ...request, prefetch: 0 }
  return store.turn({ worker: 'w', now, finished: [], claimRequest, want: { ...request, ahead: 0 } })
}

function lineOf(run, i) {
  return { run, attempt: 1, at: now, level: 'info', text: `line ${i}` }
}

function finishedOf({ run, attempt }) {
  return { run, attempt, outcome: { end: 'done', state: 'done' }, startedAt: now, endedAt: now }
}

function definition(name, nextAt) {
  const schedule = { kind: 'interval', everyMs: 60_000, anchorAt: now }
  const policies = { catchUp: { mode: 'skip' }, overlap: 'allow', priority: 0 }
  const trigger = { name, job: 'noop', enabled: true, schedule, ...policies }
  const place = { cursorAt: now, nextAt, cancelPending: false }
  return { name, source, revision: 0, now, trigger, fingerprint: 'f', tzdata: 'x', ...place }
}

function tickOf({ trigger: { name: trigger }, revision }, aRun) {
  const range = { trigger, version: 1, firstAt: now, lastAt: now, reason: 'missed', rule: 'x' }
  const run = aRun({ trigger, version: 1, origin: 'trigger', runAt: later })
  return { trigger, revision, at: now, cursorAt: now, nextAt: later, runs: [run], ranges: [range] }
}
