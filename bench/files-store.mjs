// The file store without an engine around it: how many runs a second it records, claims and finishes, and how long it
// takes to open with a history.
// Usage: node bench/files-store.mjs [--runs=2000] [--history=50000] [--durability=full|normal] [--dir=<directory>]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { randomRunId } from '../dist/kernel/identity/identity.js'
import { jobDefaults } from '../dist/kernel/job/job.js'
import { openFilesStore } from '../dist/store/files/files-store.js'
import { systemClock } from '../dist/time/clock.js'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    history: { type: 'string', default: '50000' },
    durability: { type: 'string', default: 'full' },
    dir: { type: 'string', default: tmpdir() },
  },
})
const total = Number(values.runs)
const history = Number(values.history)
const directory = mkdtempSync(join(values.dir, 'rota-bench-'))
const path = join(directory, 'data')
const now = systemClock.now()
let store = await open(values.durability)

try {
  await store.defineJobs({ source: 'code:bench', jobs: [{ ...jobDefaults, name: 'noop' }], queues: [], now })
  await store.register({ id: 'w', host: 'here', pid: 1, version: '0', now, leaseMs: 3_600_000 })
  await measureWork('with no history')
  await reopen('normal')
  for (let made = total * 3; made < history; made += 1000) {
    await bulk(1000, 1000)
    await perform(1000, 500)
  }
  await rate(`open with ${history.toLocaleString('en')} final runs`, 1, () => reopen(values.durability))
  console.log(`memory after that: ${Math.round(process.memoryUsage().rss / 1e6)} MB`)
  await measureWork('with that history')
} finally {
  await store.close()
  rmSync(directory, { recursive: true })
}

async function measureWork(when) {
  console.log(`${when}:`)
  await rate('enqueue one by one', total / 4, () => inFlight(total / 4, 1))
  await rate('enqueue, 50 in flight', total, () => inFlight(total, 50))
  await rate('claim and finish, one at a time', total / 4, () => perform(total / 4, 1))
  await rate('claim and finish, groups of 50', total, () => perform(total, 50))
}

async function rate(what, count, action) {
  const startMs = systemClock.monotonicMs()
  await action()
  const ms = systemClock.monotonicMs() - startMs
  const perSecond = Math.round((count / ms) * 1000).toLocaleString('en')
  console.log(`${what.padEnd(36)} ${perSecond.padStart(10)}/s ${(ms / count).toFixed(2).padStart(9)} ms each`)
}

async function inFlight(count, width) {
  for (let done = 0; done < count; done += width)
    await Promise.all(Array.from({ length: width }, () => store.enqueue({ runs: [aRun()], now })))
}

async function bulk(count, size) {
  for (let done = 0; done < count; done += size)
    await store.enqueue({ runs: Array.from({ length: size }, aRun), now })
}

async function perform(count, group) {
  let finished = []
  for (let done = 0; done < count || finished.length > 0; done += finished.length) {
    const slots = Math.min(group, count - done)
    const claimRequest = slots > 0 ? { jobs: ['noop'], slots, prefetch: 0 } : undefined
    const { claims } = await store.turn({ worker: 'w', now, finished, claimRequest })
    finished = claims.map(({ run, attempt }) => {
      return { run, attempt, outcome: { end: 'done', state: 'done' }, startedAt: now, endedAt: now }
    })
    if (claims.length === 0) break
  }
}

function aRun() {
  return {
    id: randomRunId(now),
    job: 'noop',
    origin: 'enqueue',
    dueAt: now,
    runAt: now,
    priority: 0,
    slots: [],
  }
}

async function reopen(durability) {
  await store.close()
  store = await open(durability)
}

function open(durability) {
  return openFilesStore({ path, durability, clock: systemClock })
}
