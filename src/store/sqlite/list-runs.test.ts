import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { NewRun } from '../../kernel/run/run.js'
import { systemClock } from '../../time/clock.js'
import { aJob, aRun, outcomes, t0 } from '../conformance/stage.js'
import type { Store } from '../port.js'
import type { RunFilter } from '../run-filter.js'
import { openSqliteStore } from './sqlite-store.js'

const directory = mkdtempSync(join(tmpdir(), 'rota-sqlite-'))
let store: Store

/** More runs than one look reads; every thousandth is of another job, and some of those are done. */
const all: readonly NewRun[] = Array.from({ length: 25_000 }, (_, i) => {
  return aRun(`r${i}`, { dueAt: t0 + i, runAt: t0, job: i % 1000 === 0 ? 'rare' : 'work' })
})
const rare = all.filter(({ job }) => job === 'rare')

beforeAll(async () => {
  store = await openSqliteStore({
    path: join(directory, 'rota.db'),
    durability: 'normal',
    clock: systemClock,
  })
  await store.defineJobs({ source: 'code:test', jobs: [aJob('work'), aJob('rare')], queues: [], now: t0 })
  await store.register({ id: 'w', host: 'here', pid: 1, version: '0', now: t0, leaseMs: 60_000 })
  await store.enqueue({ runs: all, now: t0 })
  const claimRequest = { jobs: ['rare'], slots: 10, prefetch: 0 }
  const { claims } = await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
  const finished = claims.slice(0, 6).map(({ run, attempt }, i) => {
    const outcome = i < 4 ? outcomes.done : outcomes.failed
    return { run, attempt, outcome, startedAt: t0, endedAt: t0 }
  })
  await store.turn({ worker: 'w', now: t0, finished, claimRequest: undefined })
})

afterAll(async () => {
  await store.close()
  rmSync(directory, { recursive: true })
})

const lists: readonly [what: string, filter: RunFilter, expected: readonly NewRun[]][] = [
  ['of a rare job', { job: 'rare', limit: 100 }, rare.toReversed()],
  ['of a rare job, up to the limit', { job: 'rare', limit: 7 }, rare.toReversed().slice(0, 7)],
  [
    'of a rare job after a given one',
    { job: 'rare', limit: 100, before: rare[9]?.id },
    rare.slice(0, 9).toReversed(),
  ],
  ['that are done', { state: 'done', limit: 100 }, rare.slice(0, 4).toReversed()],
  ['that failed', { state: 'failed', limit: 100 }, rare.slice(4, 6).toReversed()],
  ['that are running', { state: 'running', limit: 100 }, rare.slice(6, 10).toReversed()],
  ['that wait', { state: 'pending', job: 'rare', limit: 100 }, rare.slice(10).toReversed()],
  ['that are final', { state: ['done', 'failed'], limit: 100 }, rare.slice(0, 6).toReversed()],
  [
    'that are newer than one',
    { job: 'rare', limit: 3, newerThan: rare[4]?.id },
    rare.slice(5, 8).toReversed(),
  ],
  ['of all', { limit: 5 }, all.slice(-5).toReversed()],
]

it.each(lists)('a list of the runs %s is complete and newest first', async (_what, filter, expected) => {
  const found = await store.runs(filter)
  expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
})

it('a page ends with its look, and returns where', async () => {
  const first = await store.runsPage({ job: 'rare', limit: 100, look: 10_000 })
  expect(first.runs.map(({ id }) => id)).toEqual(
    rare
      .slice(15)
      .toReversed()
      .map(({ id }) => id),
  )
  const rest = await store.runsPage({ job: 'rare', limit: 100, before: first.lookedTo })
  expect(rest.runs.map(({ id }) => id)).toEqual(
    rare
      .slice(0, 15)
      .toReversed()
      .map(({ id }) => id),
  )
  expect(rest.lookedTo).toBeUndefined()
  expect(await store.countRuns({ job: 'rare', look: 10_000 }, 100)).toEqual({ count: 10, isCapped: true })
  expect(await store.countRuns({ job: 'rare' }, 100)).toEqual({ count: 25, isCapped: false })
})

it('a long list does not block the event loop', async () => {
  let turns = 0
  const isDone = store.runs({ job: 'nobody', limit: 1 }).then(() => true)
  const count = async (): Promise<void> => {
    while (!(await Promise.race([isDone, new Promise<false>((fire) => setImmediate(() => fire(false)))])))
      turns++
  }
  await count()
  expect(turns).toBeGreaterThanOrEqual(2)
})
