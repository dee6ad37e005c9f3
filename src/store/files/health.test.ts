import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../time/clock.js'
import { aRun, Stage, t0 } from '../conformance/stage.js'
import { realDisk, type Disk } from './disk.js'
import { openFilesStore } from './files-store.js'

let parent: string
let path: string
let stages: Stage[]

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'rota-health-'))
  path = join(parent, 'data')
  stages = []
})

afterEach(async () => {
  for (const { store } of stages) await store.close()
  rmSync(parent, { recursive: true })
})

it('a deep check of a store in use does not report a file as missing that has just moved', async () => {
  const delayed = new DelayedNews(`${path}/pending/`)
  const [worker, doctor] = [await open(), await open(delayed.disk)]
  await worker.ready()
  await worker.enqueue([aRun('a'), aRun('b')])
  expect((await doctor.store.counts()).pending).toBe(2)
  delayed.begin()
  await worker.claimOne('w', t0)
  expect((await doctor.store.health({ now: t0, deep: true })).faults).toEqual([])
  expect(delayed.isOver).toBe(true)
})

it('a check of a store in use does not report a new file of a run as one of another program', async () => {
  const delayed = new DelayedNews(`${path}/pending/`)
  const [worker, doctor] = [await open(), await open(delayed.disk)]
  await worker.ready()
  await doctor.store.counts()
  delayed.begin()
  await worker.enqueue([aRun('a')])
  const later = systemClock.now() + 120_000
  expect((await doctor.store.health({ now: later })).faults).toEqual([])
  expect(delayed.isOver).toBe(true)
})

it('a file that is really missing is named once', async () => {
  const stage = await open()
  await stage.ready()
  await stage.enqueue([aRun('a'), aRun('b')])
  const place = `running/20260105T000000Z_${(await stage.claimOne('w', t0)).run}.json`
  rmSync(join(path, place))
  expect((await stage.store.health({ now: t0, deep: true })).faults).toEqual([`${place} is missing`])
})

/** A disk on which commits of others become visible only after a file was examined, as for a reader without the lock. */
class DelayedNews {
  readonly disk: Disk
  isOver = false
  #isOn = false
  readonly #sizes = new Map<number, number>()

  constructor(folder: string) {
    this.disk = {
      ...realDisk,
      size: (file) => {
        if (!this.#isOn) this.#sizes.set(file, realDisk.size(file))
        return this.#isOn ? (this.#sizes.get(file) ?? 0) : realDisk.size(file)
      },
      lstat: (of) => {
        if (this.#isOn && of.startsWith(folder)) {
          this.#isOn = false
          this.isOver = true
        }
        return realDisk.lstat(of)
      },
    }
  }

  begin(): void {
    this.#isOn = true
  }
}

async function open(disk: Disk = realDisk): Promise<Stage> {
  const store = await openFilesStore({ path, durability: 'normal', clock: systemClock, disk })
  const stage = new Stage({ store, reopen: () => Promise.resolve(store), dispose: () => store.close() })
  stages.push(stage)
  return stage
}
