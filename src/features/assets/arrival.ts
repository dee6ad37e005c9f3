import type { Instant } from '../../time/instant.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { Json } from '../../kernel/definition/json.js'
import type { StateEntry, StateChange } from '../../kernel/state/state-entry.js'

/** A partition that was done, as the trigger that follows it learns of it. */
export interface Arrival {
  readonly asset: string
  readonly partition: string
  readonly run: RunId
  readonly at: Instant
  /** How far the partitions it touches were looked at, where they are more than one tick takes. */
  readonly next?: ArrivalCursor | undefined
}

/** How many of the partitions that can be listed were looked at, or how far the walk over those of another asset came. */
export type ArrivalCursor = number | { readonly dep: number; readonly item: string }

/** An arrival as it stands in the store, and what is left of it after the tick. */
export interface StoredArrival {
  readonly item: string
  readonly revision: number
  readonly arrival: Arrival
  /** Where the next tick continues with it; undefined if nothing is left. */
  readonly next: ArrivalCursor | undefined
}

/** The arrival that a note says. */
export function arrivalOfEntry({ value }: StateEntry): Arrival {
  return value as unknown as Arrival
}

/** What a tick changes about an arrival: it goes, or says how far it was looked at. */
export function afterArrival(trigger: string, { item, revision, arrival, next }: StoredArrival): StateChange {
  const value = next === undefined ? undefined : ({ ...arrival, next } as unknown as Json)
  return { kind: 'arrival', name: trigger, item, revision, value }
}
