import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { expectInStep, killedAfter, outputOf } from '../../../test/fixtures/store-process.js'
import { systemClock } from '../../time/clock.js'
import { aJob, aRun, aTrigger, Stage, t0 } from '../conformance/stage.js'
import { openFilesStore } from './files-store.js'

let directory: string
let path: string
let url: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-files-'))
  path = join(directory, 'data')
  url = `files:${path}`
})

afterEach(() => rmSync(directory, { recursive: true }))

const names = ['a', 'b', 'c', 'd']

it('Q6: processes that open a new directory and enqueue concurrently create one store, and each run once', async () => {
  const outputs = await Promise.all(names.map((name) => outputOf({ what: 'record', url, name })))
  expect(new Set(outputs.map((lines) => lines.at(-1))).size).toBe(1)
  const first = outputs.flatMap((lines) => lines.slice(0, -1))
  expect(new Set(first).size).toBe(first.length)
  expect(first.length).toBe(40)
  expect(readdirSync(join(path, 'pending')).length).toBe(4 * 40 + 40)
  await withStore(async ({ store }) => expect((await store.counts()).pending).toBe(4 * 40 + 40))
})

it('G5, Q7: no run is claimed by two processes, and none is left', async () => {
  const runs = Array.from({ length: 120 }, (_, i) => aRun(`r${i}`))
  await withStore(async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.enqueue(runs)
  })
  const outputs = await Promise.all(names.map((name) => outputOf({ what: 'perform', url, name })))
  expect(outputs.flat().toSorted()).toEqual(runs.map(({ id }) => id).toSorted())
  expect(readdirSync(join(path, 'done')).length).toBe(120)
  expect(readdirSync(join(path, 'pending'))).toEqual([])
  await withStore(async ({ store }) => expect((await store.counts()).done).toBe(120))
})

it('G2, G7: a scheduler killed at any instruction leaves cursor and runs in step', async () => {
  await withStore(async (stage) => {
    await stage.jobs([aJob('work')])
    await stage.trigger(aTrigger('t'), { nextAt: t0 })
  })
  for (const lines of [3, 40, 11, 25, 1, 60]) {
    const said = await killedAfter({ what: 'plan', url }, lines)
    await withStore(async ({ store }) => {
      await expectInStep(store, said)
      expect((await store.health({ now: t0, deep: true })).faults).toEqual([])
    })
  }
})

async function withStore(use: (stage: Stage) => Promise<void>): Promise<void> {
  const store = await openFilesStore({ path, clock: systemClock })
  try {
    await use(new Stage({ store, reopen: () => Promise.resolve(store), dispose: () => store.close() }))
  } finally {
    await store.close()
  }
}
