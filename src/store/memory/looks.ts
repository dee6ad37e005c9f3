import type { Instant } from '../../time/instant.js'
import type { OrderedSet } from './ordered-set.js'
import type { Tables, TriggerRow } from './tables.js'

/** Sets when a trigger has to be looked at next. */
export function moveLook(tables: Tables, row: TriggerRow, nextAt: Instant | undefined): void {
  const looks = looksOf(tables, row)
  looks.delete(row)
  // Whatever changes a trigger ends here, so that this is the one place that has to say so.
  tables.touched?.triggers.add(row)
  row.nextAt = nextAt
  if (row.active && row.trigger.enabled && nextAt !== undefined) looks.add(row)
}

/** The index in which a trigger stands: those with a sensor are looked at by whoever has it. */
export function looksOf(tables: Tables, { trigger }: TriggerRow): OrderedSet<TriggerRow> {
  return trigger.schedule.kind === 'sensor' ? tables.polls : tables.looks
}

/** Puts an active trigger where the ends of what it follows find it. */
export function startFollowing(tables: Tables, row: TriggerRow): void {
  if (!row.active) return
  for (const asset of followedBy(row)) {
    const followers = tables.followers.get(asset) ?? new Set()
    tables.followers.set(asset, followers.add(row))
  }
}

/** Takes a trigger out from there, before its definition changes or it ends. */
export function stopFollowing(tables: Tables, row: TriggerRow): void {
  for (const asset of followedBy(row)) {
    const followers = tables.followers.get(asset)
    followers?.delete(row)
    if (followers?.size === 0) tables.followers.delete(asset)
  }
}

function followedBy({ trigger }: TriggerRow): readonly string[] {
  return trigger.schedule.kind === 'upstream' ? trigger.schedule.assets : []
}
