import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock, type Clock } from '../../time/clock.js'
import { aJob, aRun, minute, Stage, t0 } from '../conformance/stage.js'
import type { Store } from '../port.js'
import { Beats } from './beats.js'
import { Directory } from './layout/directory.js'
import { realDisk } from './disk.js'
import { openFilesLease } from './files-lease.js'
import { openFilesStore } from './files-store.js'
import { DirectoryLock } from './lock.js'

const second = 1000

let path: string
let store: Store
/** The clock of the store; a test can advance it immediately. */
let clock: Clock
let skewMs: number

beforeEach(async () => {
  path = join(mkdtempSync(join(tmpdir(), 'rota-beats-')), 'data')
  skewMs = 0
  clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + skewMs }
  store = await openFilesStore({ path, clock })
})

afterEach(async () => {
  await store.close()
  rmSync(join(path, '..'), { recursive: true })
})

describe('a lease that is renewed while another process holds the directory', () => {
  it('G6: stays valid, and nobody takes the runs of its worker', async () => {
    await claimed('w', { leaseMs: minute })
    const until = await whileLocked(async () => {
      expect(await lease().heartbeat({ worker: 'w', now: t0 + 50 * second, leaseMs: minute })).toBe('alive')
      return t0 + 50 * second + minute
    })
    expect(await store.workers()).toMatchObject([
      { id: 'w', lastBeatAt: t0 + 50 * second, leaseUntil: until },
    ])
    expect(await store.signsOf({ role: 'worker', until })).toEqual({ lastBeatAt: t0 + 50 * second })
    expect(await expireAt(until)).toEqual([])
    expect(await expireAt(until + 1)).toMatchObject([{ worker: 'w', attempt: 1 }])
  })

  it('G6: also stays valid for a process that renews it through its own store', async () => {
    await claimed('w', { leaseMs: minute })
    await whileLocked(async () => {
      // It waits for its commit for a sixth of the lease.
      expect(await store.heartbeat({ worker: 'w', now: t0 + 50 * second, leaseMs: 60 })).toBe('alive')
      expect(beats().read('w')).toEqual({ beatAt: t0 + 50 * second, leaseUntil: t0 + 50 * second + 60 })
    })
  })

  it('lets its worker claim: renewals without the lock count in its turns', async () => {
    const stage = await claimed('w', { leaseMs: minute })
    await lease().heartbeat({ worker: 'w', now: t0 + 50 * second, leaseMs: minute })
    await stage.enqueue([aRun('b')])
    expect((await stage.claim('w', t0 + 90 * second)).length).toBe(1)
  })

  it('raises the epoch when it is recorded, and is recorded only if the recorded lease ends soon', async () => {
    await claimed('w', { leaseMs: minute })
    const epoch = async () => (await store.health({ now: t0 })).epoch
    const before = await epoch()
    await lease().heartbeat({ worker: 'w', now: t0 + 20 * second, leaseMs: minute })
    await expireAt(t0 + 20 * second)
    expect(await epoch()).toBe(before)
    await lease().heartbeat({ worker: 'w', now: t0 + 45 * second, leaseMs: minute })
    await expireAt(t0 + 45 * second)
    expect(await epoch()).toBe(before + 1)
  })
})

describe('a renewal without the lock', () => {
  it('after the end of the lease takes the lock, and then the lease continues', async () => {
    await claimed('w', { leaseMs: minute })
    const late = { worker: 'w', now: t0 + 2 * minute, leaseMs: minute }
    expect(beats().renew(late)).toBe('late')
    expect(await lease().heartbeat(late)).toBe('alive')
    expect(await expireAt(t0 + 3 * minute)).toEqual([])
    expect(beats().renew({ ...late, now: t0 + 2 * minute + 1 })).toBe('alive')
  })

  it('does not count if the process was suspended before the write until the lease had ended', async () => {
    await claimed('w', { leaseMs: minute })
    let calls = 0
    const stopped: Clock = { ...systemClock, monotonicMs: () => (calls++ === 0 ? 0 : 2 * minute) }
    const directory = new Directory({ path, disk: realDisk, isDurable: false })
    const renewing = new Beats({ directory, clock: stopped })
    expect(renewing.renew({ worker: 'w', now: t0 + 1, leaseMs: minute })).toBe('late')
  })

  it('returns whether its worker is draining, expired or unknown', async () => {
    await claimed('w', { leaseMs: minute })
    const beat = (worker: string) => lease().heartbeat({ worker, now: t0 + 1, leaseMs: minute })
    await store.drain({ worker: 'w', isDraining: true })
    expect(await beat('w')).toBe('draining')
    expect(await lease().workers()).toMatchObject([{ id: 'w' }])
    await store.retire({ worker: 'w', now: t0 + 2 })
    expect(await beat('w')).toBe('expired')
    expect(await lease().workers()).toEqual([])
    expect(await beat('nobody')).toBe('expired')
    expect(readdirSync(join(path, 'beats'))).toEqual([])
  })

  it('is ignored if a power loss left it empty', async () => {
    await claimed('w', { leaseMs: minute })
    await lease().heartbeat({ worker: 'w', now: t0 + 1, leaseMs: minute })
    writeFileSync(join(path, 'beats', 'w.json'), '')
    expect(beats().read('w')).toBeUndefined()
    expect(await expireAt(t0 + minute + 1)).toMatchObject([{ worker: 'w' }])
  })

  it('of a process that died while writing is removed with those of gone workers', async () => {
    await claimed('w', { leaseMs: minute })
    await lease().heartbeat({ worker: 'w', now: t0 + 1, leaseMs: minute })
    for (const name of ['w.json.new', 'gone.json', 'gone.json.new'])
      writeFileSync(join(path, 'beats', name), '{')
    const other = await openFilesStore({ path, clock })
    expect(readdirSync(join(path, 'beats')).toSorted()).toEqual(['w.json', 'w.json.new'])
    await other.close()
  })
})

it('a directory of an older layout gets the folder for renewals', async () => {
  await store.close()
  rmSync(join(path, 'beats'), { recursive: true })
  store = await openFilesStore({ path, clock })
  expect(existsSync(join(path, 'beats'))).toBe(true)
})

it('the first lease of a worker starts at its commit, however long that waited for the lock', async () => {
  await whileLocked(async (release) => {
    const registered = store.register({ id: 'w', host: 'h', pid: 1, version: '0', now: t0, leaseMs: minute })
    skewMs += 3 * minute
    await release()
    await registered
  })
  const [worker] = await store.workers()
  expect(worker?.leaseUntil).toBeGreaterThanOrEqual(t0 + 4 * minute)
})

it('a worker that waited long for its turn keeps the rest of its lease', async () => {
  const stage = await claimed('w', { leaseMs: minute })
  await stage.enqueue([aRun('b')])
  await whileLocked(async (release) => {
    const claimRequest = { jobs: ['work'], slots: 1, prefetch: 0 }
    const turn = store.turn({ worker: 'w', now: t0 + 50 * second, finished: [], claimRequest })
    skewMs += 3 * minute
    await release()
    expect((await turn).claims.length).toBe(1)
  })
  expect(await expireAt(t0 + 4 * minute)).toEqual([])
})

/** Holds the lock of the directory, as another process would. */
async function whileLocked<T>(act: (release: () => Promise<void>) => Promise<T>): Promise<T> {
  const lock = new DirectoryLock({ path: join(path, 'lock.db'), clock: systemClock, url: 'files:here' })
  const over = new AbortController()
  let held: Promise<void> = Promise.resolve()
  await new Promise<void>((resolve) => {
    held = lock.holdThroughout(async () => {
      resolve()
      await systemClock.sleep(60_000, over.signal)
    })
  })
  const release = async (): Promise<void> => {
    over.abort()
    await held
  }
  try {
    return await act(release)
  } finally {
    await release()
    lock.close()
  }
}

async function claimed(worker: string, { leaseMs }: { leaseMs: number }): Promise<Stage> {
  const stage = new Stage({ store, reopen: () => Promise.resolve(store), dispose: () => store.close() })
  await stage.jobs([aJob('work')])
  await stage.enqueue([aRun('a')])
  await store.register({ id: worker, host: 'h', pid: 1, version: '0', now: t0, leaseMs })
  expect((await stage.claim(worker, t0)).length).toBe(1)
  return stage
}

async function expireAt(now: number) {
  return await store.expire({ now, deadline: now, limit: 10 })
}

function lease() {
  return openFilesLease({ path, url: `files:${path}`, clock: systemClock })
}

function beats(): Beats {
  return new Beats({
    directory: new Directory({ path, disk: realDisk, isDurable: false }),
    clock: systemClock,
  })
}
