import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { openFilesStore } from '../../store/files/files-store.js'
import { openMemoryStore } from '../../store/memory/memory-store.js'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.js'
import { aJob, aRun, aTrigger, minute, outcomes, Stage, t0 } from '../../store/conformance/stage.js'
import type { Store } from '../../store/port.js'
import { systemClock } from '../../time/clock.js'
import { reclaimLost } from '../../engine/upkeep/reclaim-lost.js'
import { moveStore } from './move-store.js'
import { timedKinds as kinds } from '../../engine/timed/kinds.js'

const open: Store[] = []
const directories: string[] = []

afterEach(async () => {
  for (const store of open.splice(0)) await store.close()
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})

it('moves everything from memory to SQLite to files and back, and all stores are equal', async () => {
  const first = keep(openMemoryStore())
  await live(first)
  const now = t0 + 60 * minute
  let from = first
  for (const next of [sqlite, files, sqlite, async () => keep(openMemoryStore())]) {
    const to = await next()
    const { counts } = await moveStore({ kinds, from, to, now })
    expect(counts).toMatchObject({ job: 1, trigger: 2, note: 2, seen: 1, log: 1 })
    expect(await to.runs({ limit: 100 })).toEqual(await first.runs({ limit: 100 }))
    expect(await to.triggers()).toEqual(await first.triggers())
    expect(await to.versions('t')).toEqual(await first.versions('t'))
    expect((await to.holds({ openAt: now + 1 })).map(({ target }) => target)).toEqual(['trigger:paused'])
    from = to
  }
})

it('the new store continues where the old one ended, and the runs of a dead worker are lost as usual', async () => {
  const from = keep(openMemoryStore())
  await live(from)
  const to = await sqlite()
  const now = t0 + 60 * minute
  await moveStore({ kinds, from, to, now })
  const lost = await to.expire({ now, deadline: now, limit: 9 })
  expect(lost).toMatchObject([{ worker: 'w', attempt: 1 }])
  const due = await to.due({ now, limit: 9 })
  expect(due.map(({ trigger, cursorAt }) => [trigger.name, cursorAt])).toEqual([['t', t0 + 3 * minute]])
})

it.each([
  ['memory', async () => keep(openMemoryStore())],
  ['files', files],
])('the attempts of a worker that %s has forgotten are moved as well', async (_, old) => {
  const from = await old()
  await live(from)
  const now = t0 + 30 * 24 * 60 * minute
  await reclaimLost(from, { now: () => now, steadyMs: () => Infinity })
  await from.expire({ now, deadline: now, limit: 9 })
  expect(await from.workers()).toEqual([])
  const to = await sqlite()
  await moveStore({ kinds, from, to, now })
  for (const { id } of await from.runs({ limit: 100 }))
    expect(await to.attempts(id)).toEqual(await from.attempts(id))
})

it('the old store is frozen, and a live worker or a target that is not empty is refused', async () => {
  const from = keep(openMemoryStore())
  await live(from)
  const to = await sqlite()
  const early = moveStore({ kinds, from, to, now: t0 + minute })
  await expect(early).rejects.toMatchObject({
    code: 'STORE_MOVE',
    message: expect.stringContaining('process 1 on here') as unknown,
  })
  const now = t0 + 60 * minute
  await moveStore({ kinds, from, to, now })
  expect(await from.holds({ target: 'all', openAt: now })).toMatchObject([{ note: `moved to ${to.url}` }])
  await expect(moveStore({ kinds, from, to, now })).rejects.toMatchObject({ code: 'STORE_NOT_EMPTY' })
})

it('an interrupted move leaves the new store frozen and the old one not, and can be repeated with another target', async () => {
  const from = keep(openMemoryStore())
  await live(from)
  const broken = await sqlite()
  const now = t0 + 60 * minute
  let pieces = 0
  const take = broken.takeFacts.bind(broken)
  broken.takeFacts = async (facts) => {
    if (++pieces > 4) throw new Error('the disk is gone')
    await take(facts)
  }
  await expect(moveStore({ kinds, from, to: broken, now })).rejects.toThrow('the disk is gone')
  expect(await broken.due({ now, limit: 9 })).toEqual([])
  expect(await broken.holds({ target: 'all', openAt: now })).toHaveLength(1)
  // The old store must work when it is started again.
  expect(await from.holds({ target: 'all', openAt: now + 1 })).toEqual([])
  const to = await sqlite()
  await moveStore({ kinds, from, to, now })
  expect(await to.holds({ target: 'all', openAt: now + 1 })).toEqual([])
})

it('a store is not moved into itself, even if it is empty', async () => {
  const only = await sqlite()
  const now = t0 + 60 * minute
  await expect(moveStore({ kinds, from: only, to: only, now })).rejects.toMatchObject({
    code: 'STORE_MOVE',
    message: expect.stringContaining('into itself') as unknown,
  })
  expect(await only.holds()).toEqual([])
})

it('a write to the old store during the move is detected', async () => {
  const from = keep(openMemoryStore())
  await live(from)
  const to = await sqlite()
  const now = t0 + 60 * minute
  let isWritten = false
  const onProgress = (): void => {
    if (isWritten) return
    isWritten = true
    void from.enqueue({ runs: [aRun('late')], now })
  }
  // The first page is the queues; the run is written before or after the page of runs: it is moved or detected.
  const take = to.takeFacts.bind(to)
  to.takeFacts = async (facts) => {
    await take(facts)
    if (facts.some(({ kind }) => kind === 'run')) onProgress()
  }
  await expect(moveStore({ kinds, from, to, now })).rejects.toMatchObject({ code: 'STORE_MOVE' })
})

/** A store with data: runs in every state, versions, a hold, state entries, a log. */
async function live(store: Store): Promise<void> {
  const stage = new Stage({ store, reopen: async () => store, dispose: async () => undefined })
  await stage.jobs([aJob('work', { concurrency: 2 })], [{ name: 'q', concurrency: 3 }])
  await stage.worker('w', t0, minute)
  await stage.trigger(aTrigger('t'))
  await stage.trigger(aTrigger('paused'))
  await stage.store.hold({ target: 'trigger:paused', now: t0, actor: 'me', note: 'n' })
  await stage.tick('t', t0 + 3 * minute)
  const slots = [{ key: 'job:work', limit: 2 }]
  await stage.enqueue(['a', 'b', 'c', 'd'].map((label) => aRun(label, { slots, uniqueKey: label })))
  const [first] = await stage.claim('w', t0 + minute, { slots: 1 })
  await stage.finish('w', first!, { outcome: outcomes.done, at: t0 + minute })
  const [second] = await stage.claim('w', t0 + minute, { slots: 1 })
  await stage.finish('w', second!, { outcome: outcomes.again(t0 + 90 * minute), at: t0 + minute })
  const [third] = await stage.claim('w', t0 + minute, { slots: 1 })
  await store.log([{ run: third!.run, attempt: 1, at: t0, level: 'info', text: 'one' }])
  await stage.tick('t', t0 + 3 * minute, {
    stateChanges: [
      { kind: 'service', name: 's', item: '', value: { lastRunAt: 1 } },
      { kind: 'partition', name: 'p', item: '2026-01-05', value: 'x' },
    ],
    seen: [{ digest: 'k' }],
    runs: [],
  })
}

function keep(store: Store): Store {
  open.push(store)
  return store
}

async function sqlite(): Promise<Store> {
  return keep(await openSqliteStore({ path: join(directory(), 'rota.db'), clock: systemClock }))
}

async function files(): Promise<Store> {
  return keep(await openFilesStore({ path: join(directory(), 'data'), clock: systemClock }))
}

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'rota-move-'))
  directories.push(made)
  return made
}
