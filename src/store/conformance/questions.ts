import { DAY_MS, HOUR_MS } from '../../time/civil.js'
import type { Auditing } from '../auditing.js'
import type { Overview } from '../overview.js'
import type { Store } from '../port.js'
import { t0 } from './stage.js'

/** Makes every query of lists, charts and alerts once, so that a test can inspect their statements. */
export async function askAll(store: Pick<Store, keyof Overview | keyof Auditing>): Promise<void> {
  const [fromAt, untilAt] = [t0, t0 + DAY_MS]
  const triggers = ['t', 'u']
  await store.pulse()
  for (const order of ['name', 'next'] as const) {
    const cursor = { name: 't', nextAt: t0 }
    await store.triggersPage({ order, limit: 9 })
    await store.triggersPage({ order, limit: 9, after: cursor, search: 'x' })
    await store.triggersPage({ order, limit: 9, before: cursor, active: true })
  }
  await store.sources()
  await store.triggersPage({ order: 'name', limit: 9, after: { name: 't' }, source: 'jobs', active: true })
  await store.recentRuns({ triggers, each: 5 })
  await store.lanes({ triggers, fromAt, untilAt, limit: 9 })
  await store.tally({ triggers, fromAt, untilAt, bucketMs: HOUR_MS })
  for (const more of [
    {},
    { triggers },
    { triggers: ['t'] },
    { fromAt, untilAt },
    { reasons: ['missed'] as const },
  ])
    await store.ledgerPage({ limit: 9, before: 99, ...more })
  await store.troubled({ limit: 9, each: 9 })
  await store.series({ fromAt, untilAt, bucketMs: HOUR_MS })
  await store.series({ fromAt, untilAt, bucketMs: HOUR_MS, byJob: true, jobs: ['work'] })
  await store.late({ now: untilAt, byMs: 1, limit: 9 })
  await store.stateTally({ kind: 'partition', name: 'a', field: 'state' })
  for (const more of [{}, { targets: ['trigger:t'] }, { actor: 'ann' }, { action: 'freeze' }])
    await store.auditPage({ limit: 9, before: 99, ...more })
  await store.pruneAudit({ before: t0, keep: 10, limit: 9 })
}
