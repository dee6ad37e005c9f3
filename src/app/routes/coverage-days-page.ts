import { coverageDays } from '../../engine/explain/coverage-days.js'
import { DAY_MS } from '../../time/civil.js'
import { loadTriggerKinds } from '../features.js'
import type { App } from '../rota.js'

/** The requested days and triggers. */
export interface CoverageDaysQuery {
  readonly trigger?: readonly string[] | undefined
  readonly days: number
  readonly limit: number
  readonly after?: string | undefined
}

/** One page of triggers, with their coverage on each of the last days. */
export async function coverageDaysPage(app: App, { trigger: names, days, limit, after }: CoverageDaysQuery) {
  const [store, kinds, now] = [await app.store(), await loadTriggerKinds(), app.now()]
  const untilAt = now - (now % DAY_MS) + DAY_MS
  const fromAt = untilAt - days * DAY_MS
  const found = await store.triggersPage({
    order: 'name',
    limit: limit + 1,
    names,
    after: after === undefined ? undefined : { name: after },
    active: names === undefined ? true : undefined,
  })
  const triggers = found.slice(0, limit)
  const covered = await coverageDays(store, { kinds, triggers, fromAt, untilAt, now })
  return {
    fromAt,
    untilAt,
    items: [...covered].map(([trigger, counted]) => ({ trigger, days: counted })),
    next: found.length > limit ? triggers.at(-1)?.trigger.name : undefined,
  }
}
