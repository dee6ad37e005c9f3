import { followedAssets, isPolled } from '../../kernel/trigger/trigger.js'
import type { Instant } from '../../time/instant.js'
import type { OrderedSet } from './sets/ordered-set.js'
import { getOrAdd, type Tables, type TriggerRow } from './tables.js'

/** Sets when a trigger is evaluated next. */
export function setNextTick(tables: Tables, row: TriggerRow, nextAt: Instant | undefined): void {
  const index = nextTickIndex(tables, row)
  index.delete(row)
  // Every change of a trigger ends here, so this is the only place that has to record it.
  tables.touched?.triggers.add(row)
  row.nextAt = nextAt
  if (row.active && row.trigger.enabled && nextAt !== undefined) index.add(row)
}

/** The index of a trigger by its next tick: sensors have their own, because only processes that define one poll it. */
export function nextTickIndex(tables: Tables, { trigger }: TriggerRow): OrderedSet<TriggerRow> {
  return isPolled(trigger.schedule) ? tables.sensorsByNextTick : tables.byNextTick
}

/** Adds an active trigger to the followers of its assets. */
export function startFollowing(tables: Tables, row: TriggerRow): void {
  if (!row.active) return
  for (const asset of followedAssets(row.trigger.schedule))
    getOrAdd(tables.followers, asset, () => new Set()).add(row)
}

/** Removes a trigger from the followers, before its definition changes or it ends. */
export function stopFollowing(tables: Tables, row: TriggerRow): void {
  for (const asset of followedAssets(row.trigger.schedule)) {
    const followers = tables.followers.get(asset)
    followers?.delete(row)
    if (followers?.size === 0) tables.followers.delete(asset)
  }
}
