import { expect, it } from 'vitest'
import { newNotices, watchKey, type AlertKind } from '../kernel/alert/notice.js'
import { planTick } from '../kernel/tick/tick.js'
import { openMemoryStore } from '../store/memory/memory-store.js'
import { Stage, aTrigger, minute, t0 } from '../store/conformance/stage.js'
import { Events } from './events.js'
import { Upkeep } from './upkeep/upkeep.js'
import { withMissedNotices } from './notices.js'

async function watching(...kinds: readonly AlertKind[]): Promise<Stage> {
  const store = openMemoryStore()
  const stage = new Stage({
    store,
    reopen: () => Promise.resolve(store),
    close: () => store.close(),
  } as never)
  await store.changeState({ changes: [{ ...watchKey, value: { 'code:test': kinds } }], now: t0 })
  return stage
}

async function told(stage: Stage): Promise<readonly unknown[]> {
  const found = await stage.store.stateEntries({ kind: 'alert', names: [newNotices], limit: 9 })
  return found.map(({ value }) => value)
}

it('a tick that misses instants commits one notice with them, and none if it is stale', async () => {
  const stage = await watching('missed')
  await stage.ready()
  const catchUp = { mode: 'skip', maxAgeMs: undefined, maxRuns: 1, graceMs: 0 } as const
  await stage.trigger(aTrigger('nightly', { catchUp }))
  const tick = planTick(await stage.seen('nightly', t0 + 3 * minute + 1), t0 + 3 * minute + 1)
  const ticks = await withMissedNotices(stage.store, [tick])
  expect(await stage.store.tick(ticks)).toEqual(['ticked'])
  expect(await stage.store.tick(ticks)).toEqual(['stale'])
  expect(await told(stage)).toMatchObject([{ on: 'missed', trigger: 'nightly', dueAt: t0 + minute }])
})

it('a process that disappears leaves one notice, a process that stops normally none', async () => {
  const stage = await watching('worker-lost')
  const given = { host: 'h', pid: 7, version: '1', now: t0, leaseMs: 1000 }
  await stage.store.register({ id: 'gone', ...given })
  await stage.store.register({ id: 'polite', ...given })
  await stage.store.retire({ worker: 'polite', now: t0 })
  const options = {
    everyMs: 1000,
    retentionMs: () => Infinity,
    onRuns: () => undefined,
    steadyMs: () => Infinity,
  }
  const upkeep = new Upkeep({ store: stage.store, events: new Events(), now: () => t0 + 5000, ...options })
  await upkeep.step()
  await upkeep.step()
  expect(await told(stage)).toMatchObject([
    { on: 'worker-lost', text: expect.stringContaining('worker gone (h, process 7)') },
  ])
})
