// The cost of the queries for lists, charts and pages on a big SQLite store: how long each takes, and the longest CPU
// time for which it blocks the event loop. Then the same through a mounted handler, whose reads another process
// answers: how long the event loop of the program is blocked; the limit is 5 ms.
// Usage: node bench/reads.mjs [--runs=1000000] [--triggers=100000] [--busy=2000] [--waiting=10000] [--rounds=5]
//                             [--dir=<directory>] [--only=<part of a name>]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { DatabaseSync } from '@photostructure/sqlite'
import { loadTriggerKinds } from '../dist/app/features.js'
import { nowReader } from '../dist/app/overview/now.js'
import { series } from '../dist/app/overview/series.js'
import { timeline } from '../dist/app/overview/timeline.js'
import { usualDurations } from '../dist/app/overview/usual.js'
import { rota } from '../dist/index.js'
import { openSqliteStore } from '../dist/store/sqlite/sqlite-store.js'
import { systemClock } from '../dist/time/clock.js'
import { defineTriggers, nameOf, runIdSql } from './many-triggers.mjs'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000000' },
    triggers: { type: 'string', default: '100000' },
    busy: { type: 'string', default: '2000' },
    waiting: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    dir: { type: 'string', default: tmpdir() },
    only: { type: 'string', default: '' },
  },
})
const [runs, triggers, busy, waiting, rounds] = ['runs', 'triggers', 'busy', 'waiting', 'rounds'].map(
  (name) => Number(values[name]),
)
const hour = 3_600_000
const day = 24 * hour
const directory = mkdtempSync(join(values.dir, 'rota-bench-'))
const path = join(directory, 'rota.db')
const now = systemClock.now()
const lanes = Array.from({ length: 50 }, (_, i) => nameOf(i * Math.floor(busy / 50)))

const store = await openSqliteStore({ path, durability: 'normal', clock: systemClock })
try {
  const nextAt = (i) => now + (i % (i < busy ? 3600 : 86_400)) * 1000
  const since = now - 60 * day
  await defineTriggers(store, { jobs: 100, triggers, busy, everyMs: hour, now, since, nextAt })
  fill()
  const kinds = await loadTriggerKinds()
  const month = { fromAt: now - 30 * day, untilAt: now }
  await measure('pulse', () => store.pulse())
  await measure('triggers, a page', () => store.triggersPage({ order: 'name', limit: 50 }))
  await measure('triggers, next', () => store.triggersPage({ order: 'next', limit: 50 }))
  await measure('triggers, search without a match', () =>
    store.triggersPage({ order: 'name', limit: 50, search: 'nowhere' }),
  )
  await measure('recent runs, 50 × 20', () => store.recentRuns({ triggers: lanes, each: 20 }))
  await measure('usual durations, 50', () => usualDurations(store, lanes))
  await measure('lanes, 50 × 24 h', () =>
    store.lanes({ triggers: lanes, fromAt: now - day, untilAt: now, limit: 301 }),
  )
  await measure('tally, 1 × 30 days', () =>
    store.tally({ triggers: lanes.slice(0, 1), ...month, bucketMs: day }),
  )
  await measure('tally, 50 × 30 days', () => store.tally({ triggers: lanes, ...month, bucketMs: day }))
  await measure('ledger, a page', () => store.ledgerPage({ limit: 50 }))
  await measure('ledger, a rare reason', () => store.ledgerPage({ limit: 50, reasons: ['paused'] }))
  await measure('series of runs, 24 h', () =>
    store.series({ fromAt: now - day, untilAt: now, bucketMs: 5 * 60_000 }),
  )
  await measure('series, 30 days', () => series(store, { ...month, bucketMs: 6 * hour }))
  await measure('late', () => store.late({ now, byMs: 60_000, limit: 50 }))
  await measure('queues', () => store.queues())
  await measure('troubled', () => store.troubled({ limit: 50, each: 10 }))
  await measure('counts', () => store.counts())
  await measure('count of one job', () => store.countRuns({ job: 'job-1' }, 1000))
  await measure('count of a rare job', () => store.countRuns({ job: 'nobody' }, 1000))
  await measure('first page', () => nowReader()({ store, kinds, now }))
  await measure('timeline, 50 × 24 h', () =>
    timeline({ store, kinds, now }, { lanes, fromAt: now - 20 * hour, untilAt: now + 4 * hour }),
  )
  await measure('timeline, 50 × 30 days', () => timeline({ store, kinds, now }, { lanes, ...month }))
  await measureHandler()
} finally {
  await store.close()
  rmSync(directory, { recursive: true })
}

/**
 * Performs a query several times while the cycles of the event loop are counted. Blocking is measured in CPU time: on a
 * busy machine the rest is the time of other processes.
 */
async function measure(name, ask) {
  if (!name.includes(values.only)) return
  await ask()
  const took = []
  let longest = 0
  const over = new AbortController()
  const watch = (async () => {
    for (let last = cpuMs(); !over.signal.aborted; ) {
      await turn()
      const at = cpuMs()
      longest = Math.max(longest, at - last)
      last = at
    }
  })()
  for (let i = 0; i < rounds; i += 1) {
    await turn()
    const startMs = systemClock.monotonicMs()
    await ask()
    took.push(systemClock.monotonicMs() - startMs)
  }
  over.abort()
  await watch
  const sorted = took.toSorted((a, b) => a - b)
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
  const cells = [at(0.5), at(0.99), longest].map((ms) => ms.toFixed(2).padStart(9))
  process.stdout.write(`${name.padEnd(34)} p50 ${cells[0]} ms   p99 ${cells[1]} ms   hold ${cells[2]} ms\n`)
}

/** Requests the heaviest routes of a mounted app. */
async function measureHandler() {
  process.env.XDG_STATE_HOME = directory
  const app = rota({ store: `sqlite:${path}`, directory })
  writeFileSync(join(directory, 'plan.yaml'), planText())
  writeFileSync(join(directory, 'pipeline.yml'), 'name: web\nsteps:\n  - id: a\n    run: ["true"]\n')
  app.plans.add('plan.yaml')
  const handler = app.handler({ authorize: () => ({ actor: 'bench', role: 'read' }) })
  const iso = (at) => new Date(at).toISOString()
  await app.commands.importText(commandLines())
  const span = `from=${iso(now - 30 * day)}&until=${iso(now)}`
  const routes = [
    '/runs?job=nobody',
    `/ui/series?${span}&by=job`,
    '/ui/now',
    `/ui/timeline?${span}&${lanes.map((lane) => `lanes=${lane}`).join('&')}`,
    '/runs/late',
    '/queues',
    '/triggers?search=nowhere',
    '/holds',
    '/jobs',
    '/command-jobs',
    '/plans',
    '/plans/plan.yaml',
    '/plans/plan.yaml/pass',
  ]
  for (const address of [...routes.map((one) => `/api/v1${one}`), '/metrics']) {
    await measureHold(address.replace(/\?.*/, ''), async () => {
      const response = await handler(new Request(`http://127.0.0.1${address}`))
      if (!response.ok) throw new Error(`${address}: ${await response.text()}`)
      await response.arrayBuffer()
    })
  }
  await app.stop({ grace: 0 })
}

/** The lines of a jobs file with 5,000 jobs. */
function commandLines() {
  const line = (i) =>
    JSON.stringify({
      id: `job_${i}`,
      type: 'recurring',
      schedule: '0 9 * * *',
      command: 'greet',
      user_id: 'u',
    })
  return Array.from({ length: 5000 }, (_, i) => line(i)).join('\n')
}

/** A plan with 5,000 entries, one for each day. */
function planText() {
  const day = (i) => new Date(now + i * 86_400_000).toISOString().slice(0, 10)
  const entry = (_, i) =>
    `  - { publish_at: "${day(i)}T09:00", pipeline_path: pipeline.yml, run_id_prefix: "p${i}" }`
  const entries = Array.from({ length: 5000 }, entry)
  return ['schema_version: "v1"', 'timezone: "UTC"', 'entries:', ...entries].join('\n')
}

/** Sends several requests; the shortest of the longest blocks counts, since other processes only make them longer. */
async function measureHold(name, ask) {
  if (!name.includes(values.only)) return
  await ask()
  const found = []
  for (let i = 0; i < rounds; i += 1) {
    let longest = 0
    const over = new AbortController()
    const watch = (async () => {
      for (let last = [performance.now(), cpuMs()]; !over.signal.aborted; ) {
        await turn()
        const at = [performance.now(), cpuMs()]
        // What the wall clock shows beyond the CPU time is the time of other processes.
        longest = Math.max(longest, Math.min(at[0] - last[0], at[1] - last[1]))
        last = at
      }
    })()
    const startMs = performance.now()
    await ask()
    found.push({ tookMs: performance.now() - startMs })
    over.abort()
    await watch
    found.at(-1).longest = longest
  }
  const least = (key) => Math.min(...found.map((one) => one[key]))
  const [took, hold] = [least('tookMs'), least('longest')]
  const cells = [took, hold].map((ms) => ms.toFixed(2).padStart(9))
  const word = hold < 5 ? 'pass' : 'FAIL'
  process.stdout.write(`${word}  ${name.padEnd(28)} took ${cells[0]} ms   loop stands still ${cells[1]} ms\n`)
}

function cpuMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Inserts the history with plain SQL: nothing else is fast enough. */
function fill() {
  const db = new DatabaseSync(path)
  db.exec('pragma synchronous = off')
  const step = Math.floor((30 * day) / runs)
  const numbers = (count) =>
    `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${count} - 1)`
  db.exec(`begin; ${numbers(runs)} insert into runs (id, job, state, priority, run_at, due_at, attempt, claimed_at,
      started_at, finished_at, created_at, origin, trigger, version, result)
    select ${runIdSql}, 'job-' || (i % ${busy} % 100), case when i % 500 = 0 then 5 else 4 end,
      0, due, due, 1, due + 5, due + 5 + i % 900, due + 1000 + i % 9000, due, 0,
      printf('trigger-%06d', i % ${busy}), 1, '{"ok":true}'
    from (select i, ${now - 30 * day} + i * ${step} as due from n); commit`)
  db.exec(`begin; ${numbers(waiting)} insert into runs (id, job, state, priority, run_at, due_at, created_at, origin)
    select ${runIdSql}, 'job-' || (i % 100), case when i % 10 = 0 then 0 else 1 end, 0,
      due, due, due, 1 from (select i + ${runs} as i, ${now - hour} + i % 3600000 as due from n); commit`)
  db.exec(`begin; ${numbers(60_000)} insert into ledger (trigger, first_at, last_at, version, reason, rule, recorded_at)
    select printf('trigger-%06d', i % ${busy}), at, at, 1, 'missed', 'catch-up:skip', at
    from (select i, ${now - 30 * day} + i * 40000 as at from n); commit`)
  db.close()
}
