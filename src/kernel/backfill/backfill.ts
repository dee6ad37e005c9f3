import type { Instant } from '../../time/instant.js'
import { runIdOf, type RunId } from '../identity/identity.js'
import type { NewRun } from '../run/run.js'
import { runAtOf, type Pace } from './pace.js'

/** The order in which a backfill creates its runs. */
export type BackfillOrder = 'oldest-first' | 'newest-first'

/** The orders that a backfill may have. */
export const backfillOrders = ['oldest-first', 'newest-first'] as const

/**
 * The progress of a backfill: nothing was started, its runs are being recorded, all of them are recorded, its runs are
 * being cancelled, or all of them are cancelled.
 */
export type BackfillState = 'planned' | 'starting' | 'started' | 'cancelling' | 'cancelled'

/**
 * A stored backfill: what was requested, and how far it was started. It repeats due instants of a trigger or
 * partitions of an asset; these items are stored separately, in parts, and never change.
 */
export interface Backfill {
  readonly id: string
  /** The trigger whose due instants it repeats; null if it is about an asset. */
  readonly trigger: string | null
  /** The asset whose partitions it repeats; null if it is about a trigger. */
  readonly asset: string | null
  /** Which of the items were chosen. */
  readonly only: string
  readonly order: BackfillOrder
  /** How many of its runs may run concurrently; null for no limit of its own. */
  readonly concurrency: number | null
  /** How many of its runs may begin in a period; null for no limit. */
  readonly pace: Pace | null
  readonly total: number
  /** The first and the last item in its order, as people read them. */
  readonly first: string
  readonly last: string
  /** How many items of the range it skips, by reason. */
  readonly skipped: Readonly<Record<string, number>>
  readonly by: string
  readonly reason: string | null
  readonly createdAt: Instant
  /** When it was started; null if it was not. */
  readonly startedAt: Instant | null
  readonly state: BackfillState
  /** How many of its runs were recorded. */
  readonly started: number
  /** How many of those a cancel has examined, and how many it has stopped. */
  readonly looked: number
  readonly cancelledRuns: number
}

/** The due instant of an item: that of the trigger, or for a partition the time when the backfill was created. */
export function dueAtOf({ trigger, createdAt }: Backfill, item: string): Instant {
  return trigger === null ? createdAt : instantOfItem(item).at
}

/** A due instant and the version of the trigger that decides about it, as an item. */
export function itemOfInstant({ at, version }: { readonly at: Instant; readonly version: number }): string {
  return `${at}@${version}`
}

/** Reads such an item. */
export function instantOfItem(item: string): { readonly at: Instant; readonly version: number } {
  const [at, version] = item.split('@')
  return { at: Number(at), version: Number(version) }
}

/** The id of the run of an item: recording it again changes nothing. */
export function backfillRunId(backfill: Backfill, item: string): RunId {
  return runIdOf({ at: dueAtOf(backfill, item), parts: ['backfill', backfill.id, item] })
}

/** The run of an item at its place in the order of the backfill. It moves no cursor and changes no disposition. */
export function backfillRun(
  base: Omit<NewRun, 'id' | 'origin' | 'dueAt' | 'runAt'>,
  backfill: Backfill,
  { item, index }: { readonly item: string; readonly index: number },
): NewRun {
  const { id, concurrency } = backfill
  const own = concurrency === null ? [] : [{ key: `backfill:${id}`, limit: concurrency }]
  return {
    ...base,
    id: backfillRunId(backfill, item),
    origin: 'backfill',
    dueAt: dueAtOf(backfill, item),
    runAt: runAtOf(backfill, index),
    // Runs that are due now go before repeated ones.
    priority: base.priority - 1,
    slots: [...base.slots, ...own],
    labels: { ...base.labels, backfill: id },
  }
}
