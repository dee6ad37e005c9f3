import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../time/clock.js'
import { VolatileDisk } from '../../../test/fixtures/volatile-disk.js'
import { aJob, aRun, aTrigger, minute, outcomes, Stage, t0 } from '../conformance/stage.js'
import { openMemoryStore } from '../memory/memory-store.js'
import type { Store } from '../port.js'
import { realDisk, type Disk } from './disk.js'
import { openFilesStore } from './files-store.js'

/** The calls that change something: only between two of them can a crash leave a different result. */
const changing = ['write', 'truncate', 'sync', 'rename', 'remove', 'makeDirectory']

/** They open hundreds of stores: a few seconds on an idle machine, a minute on a busy one. */
const timeoutMs = 180_000

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-files-'))
})

afterEach(() => rmSync(directory, { recursive: true }))

describe('G2, G7: a process that dies at any call of the file system leaves each transaction whole or absent', () => {
  it.each(['before a call', 'half-way through a write'] as const)(
    '%s',
    async (when) => {
      const facts = await expectedFacts()
      for (let call = 1; ; call++) {
        const path = join(directory, String(call))
        const { done, isOver } = await playUntilCrash({ path, crashCall: call, when, disk: realDisk })
        const store = await openFilesStore({ path, durability: 'normal', clock: systemClock })
        const found = await factsOf(store)
        // The step that was interrupted has happened completely or not at all; earlier steps have happened.
        expect([facts[done], facts[done + 1] ?? facts[done]], `call ${call}`).toContainEqual(found)
        expect((await store.health({ now: t0, deep: true })).faults).toEqual([])
        await goesOn(store)
        await store.close()
        rmSync(path, { recursive: true })
        if (isOver) break
      }
    },
    timeoutMs,
  )
})

describe('G7: a power loss at any call of the file system loses nothing that was acknowledged', () => {
  it.each(['nothing that was not synced', 'names, but no data that was not synced'] as const)(
    'where %s survives',
    async (survivors) => {
      const facts = await expectedFacts()
      for (let call = 1; ; call++) {
        const path = join(directory, String(call))
        mkdirSync(path)
        const disk = new VolatileDisk()
        const { done, isOver } = await playUntilCrash({ path, crashCall: call, when: 'before a call', disk })
        disk.losePower(survivors)
        const store = await openFilesStore({ path, clock: systemClock, disk })
        const found = await factsOf(store)
        expect([facts[done], facts[done + 1] ?? facts[done]], `call ${call}`).toContainEqual(found)
        await store.close()
        rmSync(path, { recursive: true })
        if (isOver) break
      }
    },
    timeoutMs,
  )
})

describe('a full disk', () => {
  it('G7: refuses the whole transaction with STORE_FULL, and works again when there is room', async () => {
    const state = { isFull: false }
    const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', syscall: 'write' })
    const disk = failing((name) => {
      if (state.isFull && name === 'write') throw full
    })
    const store = await openFilesStore({ path: join(directory, 'data'), clock: systemClock, disk })
    await store.enqueue({ runs: [aRun('a')], now: t0 })
    state.isFull = true
    await expect(store.enqueue({ runs: [aRun('b'), aRun('c')], now: t0 })).rejects.toMatchObject({
      code: 'STORE_FULL',
    })
    expect((await store.counts()).pending).toBe(1)
    state.isFull = false
    await store.enqueue({ runs: [aRun('d')], now: t0 })
    expect((await store.counts()).pending).toBe(2)
    await store.close()
  })

  it('a committed transaction is not undone when there is no room for its files, and is applied before the next', async () => {
    const state = { isFull: false }
    const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', syscall: 'open' })
    const disk = failing((name) => {
      if (state.isFull && name === 'open') throw full
    })
    const path = join(directory, 'data')
    const store = await openFilesStore({ path, clock: systemClock, disk })
    state.isFull = true
    await store.enqueue({ runs: [aRun('a')], now: t0 })
    await expect(store.enqueue({ runs: [aRun('b')], now: t0 })).rejects.toMatchObject({ code: 'STORE_FULL' })
    state.isFull = false
    await store.enqueue({ runs: [aRun('c')], now: t0 })
    const other = await openFilesStore({ path, clock: systemClock })
    expect((await other.runs({ limit: 9 })).map(({ id }) => id)).toEqual(
      [aRun('a').id, aRun('c').id].toSorted().toReversed(),
    )
    await other.close()
    await store.close()
  })

  it('G9: a disk that fails closes the store', async () => {
    const state = { isBroken: false }
    const broken = Object.assign(new Error('EIO: i/o error'), { code: 'EIO', syscall: 'fsync' })
    const disk = failing((name) => {
      if (state.isBroken && name === 'sync') throw broken
    })
    const store = await openFilesStore({ path: join(directory, 'data'), clock: systemClock, disk })
    state.isBroken = true
    await expect(store.enqueue({ runs: [aRun('a')], now: t0 })).rejects.toMatchObject({ code: 'STORE_IO' })
    state.isBroken = false
    await expect(store.counts()).rejects.toMatchObject({ code: 'STORE_IO' })
    await store.close()
  })
})

/** A few transactions that change everything: definitions, ticks, claims, results, retries, holds, logs, pruning. */
const story: readonly ((stage: Stage) => Promise<unknown>)[] = [
  (stage) => stage.jobs([aJob('work', { concurrency: 2 })], [{ name: 'q', concurrency: 1 }]),
  (stage) => stage.worker('w'),
  (stage) => stage.trigger(aTrigger('t')),
  async (stage) => stage.tick('t', t0 + 3 * minute),
  (stage) =>
    stage.enqueue([aRun('a', { uniqueKey: 'k' }), aRun('b', { payload: { x: 1 } })], t0 + 3 * minute),
  (stage) => stage.claim('w', t0 + 3 * minute, { slots: 3 }),
  async (stage) => {
    const [one, two, three] = await held(stage)
    const at = t0 + 4 * minute
    return await stage.turn('w', at, [
      { ...(one as Claimed), outcome: outcomes.done, startedAt: at, endedAt: at },
      { ...(two as Claimed), outcome: outcomes.failed, startedAt: at, endedAt: at },
      { ...(three as Claimed), outcome: outcomes.again(at + minute), startedAt: at, endedAt: at },
    ])
  },
  async (stage) => {
    const [run] = await stage.store.runs({ limit: 1, state: 'done' })
    const line = { run: run?.id ?? '', attempt: 1, at: t0, level: 'info', text: 'said' } as const
    return await stage.store.log([line, line])
  },
  async (stage) => {
    const [run] = await stage.store.runs({ limit: 1, state: 'failed' })
    return await stage.store.retry({ run: run?.id ?? '', now: t0 + 5 * minute })
  },
  (stage) => stage.store.hold({ target: 'trigger:t', now: t0 + 5 * minute, actor: 'me', note: '' }),
  (stage) => stage.store.heartbeat({ worker: 'w', now: t0 + 5 * minute, leaseMs: minute }),
  (stage) => stage.store.prune({ before: t0 + 9 * minute, limit: 9, now: t0 + 9 * minute }),
]

type Claimed = { run: string; attempt: number }

async function held(stage: Stage): Promise<Claimed[]> {
  const runs = await stage.store.runs({ limit: 9, state: 'running' })
  return runs.map(({ id, attempt }) => ({ run: id, attempt })).toSorted((a, b) => (a.run < b.run ? -1 : 1))
}

/** What a reader must see before the first step and after each. */
async function expectedFacts(): Promise<unknown[]> {
  const store = openMemoryStore()
  const stage = stageOf(store)
  const facts = [await factsOf(store)]
  for (const step of story) {
    await step(stage)
    facts.push(await factsOf(store))
  }
  return facts
}

async function playUntilCrash(plan: {
  path: string
  crashCall: number
  when: 'before a call' | 'half-way through a write'
  disk: Disk
}): Promise<{ done: number; isOver: boolean }> {
  const { path, crashCall, when } = plan
  let calls = 0
  let isDead = false
  const crash = (): never => {
    isDead = true
    throw new Error('the process died')
  }
  const disk = wrapped(plan.disk, (name, call) => {
    if (isDead) return crash()
    if (!(when === 'before a call' ? changing : ['write']).includes(name)) return call()
    calls += 1
    // Data in the system's memory survives the death of a process, so nothing has to reach the disk here.
    if (calls !== crashCall) return name === 'sync' && plan.disk === realDisk ? undefined : call()
    if (when !== 'before a call') call('half')
    return crash()
  })
  let done = 0
  let store: Store | undefined
  try {
    store = await openFilesStore({ path, clock: systemClock, disk })
    for (const step of story) {
      await step(stageOf(store))
      done += 1
    }
    return { done, isOver: true }
  } catch {
    return { done, isOver: false }
  } finally {
    isDead = true
    await store?.close().catch(() => undefined)
  }
}

/** The store works after the crash: the same steps can be repeated, and new work is accepted. */
async function goesOn(store: Store): Promise<void> {
  const stage = stageOf(store)
  await stage.jobs([aJob('work')])
  await stage.worker('after')
  const run = aRun('later', { dueAt: t0 + 20 * minute, priority: 9 })
  await stage.enqueue([run], t0 + 20 * minute)
  const claims = await stage.claim('after', t0 + 20 * minute, { slots: 1 })
  expect(claims.map((claim) => claim.run)).toEqual([run.id])
}

async function factsOf(store: Store): Promise<unknown> {
  const runs = await store.runs({ limit: 99 })
  const window = { trigger: 't', fromAt: 0, untilAt: t0 * 2 }
  return {
    runs,
    attempts: await Promise.all(runs.map(({ id }) => store.attempts(id))),
    logs: await Promise.all(runs.map(({ id }) => store.logs({ run: id, limit: 9 }))),
    ledger: await store.ledger(window),
    triggers: await store.triggers(),
    jobs: await store.jobs(),
    queues: await store.queues(),
    holds: await store.holds(),
    workers: await store.workers(),
    epoch: (await store.health({ now: t0 })).epoch,
  }
}

function stageOf(store: Store): Stage {
  return new Stage({ store, reopen: () => Promise.resolve(store), dispose: () => store.close() })
}

/** A disk with a hook before each call. */
function failing(before: (name: keyof Disk) => void): Disk {
  return wrapped(realDisk, (name, call) => {
    before(name)
    return call()
  })
}

function wrapped(disk: Disk, around: (name: keyof Disk, call: (how?: 'half') => unknown) => unknown): Disk {
  return new Proxy(disk, {
    get(target, name: keyof Disk) {
      const real = (target[name] as (...args: unknown[]) => unknown).bind(target)
      return (...args: unknown[]) => around(name, (how) => real(...(how === 'half' ? halved(args) : args)))
    },
  })
}

function halved([file, data, position]: readonly unknown[]): unknown[] {
  const bytes = data as Uint8Array
  return [file, bytes.subarray(0, bytes.length >> 1), position]
}
