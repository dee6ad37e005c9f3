import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { expectInStep, killedAfter, outputOf } from '../../../test/fixtures/store-process.js'
import { FakeClock } from '../../testing/fake-clock.js'
import { systemClock } from '../../time/clock.js'
import { aJob, aRun, aTrigger, Stage, t0 } from '../conformance/stage.js'
import { openSqliteStore } from './sqlite-store.js'

let directory: string
let path: string
let url: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-sqlite-'))
  path = join(directory, 'rota.db')
  url = `sqlite:${path}`
})

afterEach(() => rmSync(directory, { recursive: true }))

it('G3: processes that open a new file concurrently create one store, and record each run once', async () => {
  const outputs = await Promise.all(Array.from({ length: 4 }, () => outputOf({ what: 'record', url })))
  expect(new Set(outputs.map((lines) => lines.at(-1))).size).toBe(1)
  const first = outputs.flatMap((lines) => lines.slice(0, -1))
  expect(new Set(first).size).toBe(first.length)
  expect(first.length).toBe(40)
  await withStore(async ({ store }) => expect((await store.counts()).pending).toBe(4 * 40 + 40))
})

it('G5: no run is claimed by two processes, and none is left', async () => {
  const runs = Array.from({ length: 500 }, (_, i) => aRun(`r${i}`))
  await withStore(async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.enqueue(runs)
  })
  const outputs = await Promise.all(['a', 'b', 'c'].map((name) => outputOf({ what: 'perform', url, name })))
  expect(outputs.flat().toSorted()).toEqual(runs.map(({ id }) => id).toSorted())
  await withStore(async ({ store }) => expect((await store.counts()).done).toBe(500))
})

it('G2, G7: a scheduler killed at any instruction leaves cursor and runs in step', async () => {
  await withStore(async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('t'), { nextAt: t0 })
  })
  for (const lines of [3, 40, 11, 90]) {
    const said = await killedAfter({ what: 'plan', url }, lines)
    await withStore(({ store }) => expectInStep(store, said))
  }
})

it('G9: a disk that refuses a write closes the store, and all acknowledged data is there', async () => {
  const said = await outputOf({ what: 'fill', url }, 800)
  expect(said).toEqual(['STORE_IO', 'STORE_IO', 'STORE_IO'])
  await withStore(async ({ store }) => {
    expect((await store.counts()).pending % 500).toBe(0)
    expect((await store.health({ now: t0, deep: true })).faults).toEqual([])
  })
})

it('the stamp changes after a commit of any process, and only then', async () => {
  await withStore(async ({ store }) => {
    await withStore(async (other) => {
      const first = await store.stamp?.()
      expect(first).toBeTypeOf('string')
      await store.runs({ limit: 1 })
      await other.store.runs({ limit: 1 })
      expect(await store.stamp?.()).toBe(first)
      await other.jobs([aJob('theirs')])
      const second = await store.stamp?.()
      expect(second).not.toBe(first)
      await new Stage({ ...unowned, store }).jobs([aJob('own')])
      const third = await store.stamp?.()
      expect(third).not.toBe(second)
      expect(await store.stamp?.()).toBe(third)
    })
  })
})

it('whoever watches is told of what others commit, but not of the renewals of their leases', async () => {
  const clock = new FakeClock(t0)
  const store = await openSqliteStore({ path, clock })
  let told = 0
  const unwatch = store.watch(() => told++)
  try {
    await withStore(async (other) => {
      await other.worker('w')
      await clock.advance('1s')
      expect(told).toBe(1)
      for (let i = 0; i < 3; i++) {
        await other.store.heartbeat({ worker: 'w', now: t0, leaseMs: 30_000 })
        await clock.advance('1s')
      }
      expect(told).toBe(1)
      await other.store.heartbeat({ worker: 'w', now: t0, leaseMs: 30_000 })
      await other.jobs([aJob('theirs')])
      await clock.advance('3s')
      expect(told).toBe(2)
    })
  } finally {
    unwatch()
    await store.close()
  }
})

/** For a stage whose store is closed elsewhere. */
const unowned = { reopen: () => Promise.reject(new Error('not here')), dispose: () => Promise.resolve() }

async function withStore(use: (stage: Stage) => Promise<void>): Promise<void> {
  const store = await openSqliteStore({ path, clock: systemClock })
  try {
    await use(new Stage({ store, reopen: () => Promise.resolve(store), dispose: () => store.close() }))
  } finally {
    await store.close()
  }
}
