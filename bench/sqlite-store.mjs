// The SQLite store without an engine around it: how many runs a second it records, claims and finishes.
// Usage: node bench/sqlite-store.mjs [--runs=100000] [--durability=full|normal] [--dir=<directory>]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { randomRunId } from '../dist/kernel/identity/identity.js'
import { jobDefaults } from '../dist/kernel/job/job.js'
import { openSqliteStore } from '../dist/store/sqlite/sqlite-store.js'
import { systemClock } from '../dist/time/clock.js'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '100000' },
    durability: { type: 'string', default: 'full' },
    dir: { type: 'string', default: tmpdir() },
  },
})
const total = Number(values.runs)
const directory = mkdtempSync(join(values.dir, 'rota-bench-'))
const store = await openSqliteStore({
  path: join(directory, 'rota.db'),
  durability: values.durability,
  clock: systemClock,
})
const now = systemClock.now()
const source = 'code:bench'

try {
  await store.defineJobs({ source, jobs: [{ ...jobDefaults, name: 'noop' }], queues: [], now })
  await store.register({ id: 'w', host: 'here', pid: 1, version: '0', now, leaseMs: 3_600_000 })
  await rate('enqueue, bulk of 1000', total, () => bulk(total, 1000))
  for (const group of [500, 100, 10])
    await rate(`perform, groups of ${group}`, total / 4, () => perform(total / 4, group))
  await perform(total, 500)
  await rate('enqueue, 50 in flight', total / 4, () => inFlight(total / 4, 50))
  await perform(total, 500)
  await rate('enqueue one by one', 2000, () => inFlight(2000, 1))
  await rate('enqueue and claim in one commit', 1000, () => together(1000))
  await rate('define triggers', total, () => define(total))
} finally {
  await store.close()
  rmSync(directory, { recursive: true })
}

async function rate(what, count, action) {
  const startMs = systemClock.monotonicMs()
  await action()
  const ms = systemClock.monotonicMs() - startMs
  const perSecond = Math.round((count / ms) * 1000).toLocaleString('en')
  console.log(
    `${what.padEnd(36)} ${perSecond.padStart(10)}/s ${((ms * 1000) / count).toFixed(1).padStart(9)} µs each`,
  )
}

function aRun() {
  return {
    id: randomRunId(systemClock.now()),
    job: 'noop',
    origin: 'enqueue',
    dueAt: now,
    runAt: now,
    priority: 0,
    slots: [],
    payload: { n: 1 },
  }
}

async function bulk(count, size) {
  for (let i = 0; i < count; i += size) {
    await store.enqueue({ runs: Array.from({ length: size }, aRun), now })
  }
}

async function inFlight(count, width) {
  let left = count
  const one = async () => {
    while (left-- > 0) await store.enqueue({ runs: [aRun()], now })
  }
  await Promise.all(Array.from({ length: width }, one))
}

async function perform(count, group) {
  let finished = []
  for (let done = 0; done < count; ) {
    const claimRequest = { jobs: ['noop'], slots: Math.min(group, count - done), prefetch: 0 }
    const { claims } = await store.turn({ worker: 'w', now, finished, claimRequest })
    if (claims.length === 0 && finished.length === 0) return
    done += claims.length
    finished = claims.map(({ run, attempt }) => finishedOf(run, attempt))
  }
  await store.turn({ worker: 'w', now, finished, claimRequest: undefined })
}

async function together(count) {
  let finished = []
  for (let i = 0; i < count; i++) {
    const claimRequest = { jobs: ['noop'], slots: 1, prefetch: 0 }
    const [, { claims }] = await Promise.all([
      store.enqueue({ runs: [aRun()], now }),
      store.turn({ worker: 'w', now, finished, claimRequest }),
    ])
    if (claims.length !== 1) throw new Error('the new run was not claimed in the same commit')
    finished = claims.map(({ run, attempt }) => finishedOf(run, attempt))
  }
}

function finishedOf(run, attempt) {
  return { run, attempt, outcome: { end: 'done', state: 'done' }, startedAt: now, endedAt: now }
}

async function define(count) {
  const batch = Array.from({ length: count }, (_, i) => {
    const trigger = {
      name: `trigger-${i}`,
      job: 'noop',
      schedule: { kind: 'cron', expression: `${i % 60} * * * *`, timezone: 'UTC' },
      catchUp: { mode: 'latest', maxRuns: 100, graceMs: 60_000 },
      overlap: 'skip',
      jitterMs: 0,
      spreadMs: 0,
      enabled: true,
    }
    return {
      name: trigger.name,
      source,
      revision: 0,
      now,
      trigger,
      fingerprint: `f${i}`,
      tzdata: '2026a',
      closing: undefined,
      cursorAt: now,
      nextAt: now + i,
      cancelPending: false,
    }
  })
  await store.defineTriggers(batch)
}
