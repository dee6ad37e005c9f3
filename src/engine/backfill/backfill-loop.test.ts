import { expect, it } from 'vitest'
import type { Backfill } from '../../kernel/backfill/backfill.js'
import { openMemoryStore } from '../../store/memory/memory-store.js'
import { emptyTables } from '../../store/memory/tables.js'
import { aRun } from '../../store/conformance/stage.js'
import { FakeClock } from '../../testing/fake-clock.js'
import { DAY_MS } from '../../time/civil.js'
import type { FeatureLoopContext } from '../feature-loop.js'
import { backfillLoop } from './backfill-loop.js'
import { changeBackfill, listBackfills, storeBackfill } from './stored-backfills.js'
import { triggerBackfill } from './trigger-backfill.js'

const start = Date.UTC(2026, 0, 5)
const tenDays = { runs: 1, perMs: 10 * DAY_MS }

async function stage(given: Partial<Backfill>, { isOpen = false } = {}) {
  const store = openMemoryStore(emptyTables())
  const items = Array.from({ length: 20 }, (_, i) => `${i}@1`)
  const about = { trigger: 't', asset: null, only: 'all', order: 'oldest-first', concurrency: null } as const
  const named = { first: '', last: '', skipped: {}, by: 'me', reason: null, pace: null }
  const backfill = await storeBackfill(store, { ...about, ...named, ...given, items, now: start })
  const changed = { ...backfill, ...given }
  await changeBackfill(store, { backfill, revision: 1 }, { backfill: changed, now: start })
  const labels = { backfill: backfill.id }
  if (isOpen) await store.enqueue({ runs: [aRun('a', { origin: 'backfill', labels })], now: start })
  const isKeptAfter = async (days: number): Promise<boolean> => {
    const clock = new FakeClock(start + days * DAY_MS)
    const context = { store, clock, onRuns: () => undefined } as unknown as FeatureLoopContext
    await backfillLoop([triggerBackfill]).begin(context).step()
    return (await listBackfills(store)).length > 0
  }
  return { isKeptAfter }
}

const started = { state: 'started', startedAt: start, started: 20 } as const

it.each([
  ['a plan', {}, 7],
  ['one that was started', started, 90],
  ['one that was cancelled before it began', { state: 'cancelled' }, 90],
  ['one with a pace: 90 days after its last run may begin', { ...started, pace: tenDays }, 290],
  ['one with a pace that was cancelled', { ...started, state: 'cancelled', pace: tenDays }, 90],
] as const)('%s is kept for its time and then removed', async (_, given, days) => {
  const { isKeptAfter } = await stage(given)
  expect(await isKeptAfter(days)).toBe(true)
  expect(await isKeptAfter(days + 0.01)).toBe(false)
})

it('one with a run that is unfinished is kept, however old it is', async () => {
  const { isKeptAfter } = await stage(started, { isOpen: true })
  expect(await isKeptAfter(1000)).toBe(true)
})
