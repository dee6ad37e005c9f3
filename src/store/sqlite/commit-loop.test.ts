import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../time/clock.js'
import { aJob, aRun, t0 } from '../conformance/stage.js'
import type { Store } from '../port.js'
import { CommitLoop } from './commit-loop.js'
import { enqueue } from '../sql/runs/enqueue.js'
import { performNow } from '../sql/verb.js'
import { openDatabase } from './open.js'
import { Session } from './session.js'
import { openSqliteStore } from './sqlite-store.js'

let directory: string
let path: string
let store: Store

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rota-sqlite-'))
  path = join(directory, 'rota.db')
  store = await openSqliteStore({ path, clock: systemClock })
  await store.defineJobs({ source: 'code:test', jobs: [aJob('work')], queues: [], now: t0 })
  await store.register({ id: 'w', host: 'here', pid: 1, version: '0', now: t0, leaseMs: 60_000 })
})

afterEach(async () => {
  await store.close()
  rmSync(directory, { recursive: true })
})

const claimRequest = { jobs: ['work'], slots: 10, prefetch: 0 }

it('operations that arrive together are committed together', async () => {
  const before = commitsIn(path)
  await Promise.all(Array.from({ length: 50 }, (_, i) => store.enqueue({ runs: [aRun(`r${i}`)], now: t0 })))
  expect(commitsIn(path) - before).toBe(1)
  expect((await store.counts()).pending).toBe(50)
})

it('a run that is enqueued and requested at the same moment is claimed in the commit that records it', async () => {
  const before = commitsIn(path)
  const [, { claims }] = await Promise.all([
    store.enqueue({ runs: [aRun('r')], now: t0 }),
    store.turn({ worker: 'w', now: t0, finished: [], claimRequest }),
  ])
  expect(claims.map(({ run }) => run)).toEqual([aRun('r').id])
  expect(commitsIn(path) - before).toBe(1)
})

it('a turn that finds nothing to do writes nothing', async () => {
  await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
  const before = commitsIn(path)
  await store.turn({ worker: 'w', now: t0, finished: [], claimRequest })
  expect(commitsIn(path)).toBe(before)
})

it('an operation that fails does not affect the others of its group', async () => {
  const broken = aRun('broken', { job: null as never })
  const answers = await Promise.allSettled([
    store.enqueue({ runs: [aRun('a')], now: t0 }),
    store.enqueue({ runs: [aRun('c'), broken], now: t0 }),
    store.enqueue({ runs: [aRun('b')], now: t0 }),
  ])
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  const found = await Promise.all(['a', 'b', 'c'].map((label) => store.run(aRun(label).id)))
  expect(found.map((run) => run?.state)).toEqual(['pending', 'pending', undefined])
})

it('a huge batch is several commits with one ordered answer', async () => {
  const runs = Array.from({ length: 12_000 }, (_, i) => aRun(`r${i}`))
  const before = commitsIn(path)
  const answers = await store.enqueue({ runs, now: t0 })
  expect(answers.map(({ id }) => id)).toEqual(runs.map(({ id }) => id))
  expect(commitsIn(path) - before).toBeGreaterThan(1)
})

it('a batch returns which of its runs already existed', async () => {
  const runs = Array.from({ length: 45 }, (_, i) => aRun(`r${i}`))
  const known = [3, 19, 20, 41].map((i) => runs[i] ?? aRun('none'))
  await store.enqueue({ runs: known, now: t0 })
  const answers = await store.enqueue({ runs: [...runs, ...runs.slice(0, 1)], now: t0 })
  expect(answers.flatMap(({ created }, i) => (created ? [] : [i]))).toEqual([3, 19, 20, 41, 45])
})

it('the event loop continues while another process holds the lock', async () => {
  const other = new DatabaseSync(path)
  other.exec('begin immediate')
  let isAnswered = false
  const answer = store.enqueue({ runs: [aRun('r')], now: t0 }).then((answers) => {
    isAnswered = true
    return answers
  })
  // The lock is released only after these timers, so a wait inside SQLite would never end.
  for (let i = 0; i < 60; i++) await new Promise<void>((fire) => systemClock.timer(5, fire))
  expect(isAnswered).toBe(false)
  expect((await store.counts()).pending).toBe(0)
  other.exec('rollback')
  expect(await answer).toEqual([{ id: aRun('r').id, created: true }])
  other.close()
})

it('a lock that is held for longer than the limit refuses waiting operations, and the store continues', async () => {
  let passedMs = 0
  const hasty = {
    ...systemClock,
    monotonicMs: () => passedMs,
    sleep: async (ms: number) => {
      passedMs += ms
    },
  }
  const other = new DatabaseSync(path)
  const second = await openSqliteStore({ path, clock: hasty })
  other.exec('begin immediate')
  await expect(second.enqueue({ runs: [aRun('r')], now: t0 })).rejects.toMatchObject({ code: 'STORE_BUSY' })
  other.exec('rollback')
  other.close()
  expect(await second.enqueue({ runs: [aRun('r')], now: t0 })).toEqual([{ id: aRun('r').id, created: true }])
  await second.close()
})

it('closing waits for earlier operations and refuses later ones', async () => {
  const asked = store.enqueue({ runs: [aRun('r')], now: t0 })
  const closed = store.close()
  await expect(store.enqueue({ runs: [aRun('s')], now: t0 })).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  await closed
  expect(await asked).toEqual([{ id: aRun('r').id, created: true }])
})

it('a full disk fails the whole transaction, and the store continues when there is room', async () => {
  await store.close()
  const options = { path, url: 'sqlite:test', durability: 'full', create: true, readOnly: false } as const
  const db = await openDatabase({ ...options, clock: systemClock })
  const session = new Session(db)
  const loop = new CommitLoop({ session, clock: systemClock, url: 'sqlite:test' })
  const runs = Array.from({ length: 2000 }, (_, i) => aRun(`r${i}`, { payload: 'x'.repeat(200) }))
  const attempt = () => loop.commit((each) => performNow(enqueue(each, { runs, now: t0 })))
  const pages = db.value('pragma page_count')
  db.exec(`pragma max_page_count = ${pages}`)
  await expect(attempt()).rejects.toMatchObject({ code: 'STORE_FULL' })
  expect(db.value('select count(*) from runs')).toBe(0)
  db.exec('pragma max_page_count = 1000000')
  expect((await attempt()).every(({ created }) => created)).toBe(true)
  db.close()
  store = await openSqliteStore({ path, clock: systemClock })
  expect((await store.counts()).pending).toBe(2000)
})

/** The number of commits in the write-ahead log: a commit marks its last frame with the size of the database. */
function commitsIn(file: string): number {
  const log = readFileSync(`${file}-wal`)
  if (log.length < 32) return 0
  const frameBytes = 24 + log.readUInt32BE(8)
  const salts = log.subarray(16, 24)
  let commits = 0
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) {
    if (!log.subarray(at + 8, at + 16).equals(salts)) break
    if (log.readUInt32BE(at + 4) > 0) commits++
  }
  return commits
}
