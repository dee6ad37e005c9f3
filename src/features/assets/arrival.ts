import type { Instant } from '../../time/instant.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { Json } from '../../kernel/definition/json.js'
import type { StateEntry, StateChange } from '../../kernel/state/state-entry.js'

/** The notice to a downstream trigger that an upstream partition is done. */
export interface Arrival {
  readonly asset: string
  readonly partition: string
  readonly run: RunId
  readonly at: Instant
  /** How many of the affected partitions were checked, if there are more than one tick can handle. */
  readonly next?: ArrivalCursor | undefined
}

/** The position in the list of affected partitions, or in the partitions of another asset if they cannot be listed. */
export type ArrivalCursor = number | { readonly dep: number; readonly item: string }

/** A stored arrival, and what is left of it after the tick. */
export interface StoredArrival {
  readonly item: string
  readonly revision: number
  readonly arrival: Arrival
  /** Where the next tick continues; undefined if nothing is left. */
  readonly next: ArrivalCursor | undefined
}

/** Reads an arrival from its state entry. */
export function arrivalOfEntry({ value }: StateEntry): Arrival {
  return value as unknown as Arrival
}

/** How a tick changes an arrival: it deletes it, or stores the position. */
export function afterArrival(trigger: string, { item, revision, arrival, next }: StoredArrival): StateChange {
  const value = next === undefined ? undefined : ({ ...arrival, next } as unknown as Json)
  return { kind: 'arrival', name: trigger, item, revision, value }
}
