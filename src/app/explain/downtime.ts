import { lastSignOfLife } from '../../engine/explain/sign-of-life.js'
import type { Instant } from '../../time/instant.js'
import type { App } from '../rota.js'

/** The instants that were due while no scheduler ran. */
export interface Downtime {
  /** The last sign of life before this start. */
  readonly sinceAt: Instant
  readonly triggers: readonly string[]
  readonly isMore: boolean
}

const mostNames = 5
const noticedMs = 2000

/** Reads the store before the start: once the engine runs, it plans the missed instants immediately. */
export async function readDowntime(app: App): Promise<Downtime | undefined> {
  const store = await app.store()
  const now = app.now()
  const sinceAt = await lastSignOfLife(store, now)
  if (sinceAt === undefined || now - sinceAt < noticedMs) return undefined
  const overdue = await store.due({ now, limit: mostNames + 1 })
  if (overdue.length === 0) return undefined
  const triggers = overdue.slice(0, mostNames).map((due) => due.trigger.name)
  return { sinceAt, triggers, isMore: overdue.length > mostNames }
}
