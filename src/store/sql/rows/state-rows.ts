import type { Json } from '../../../kernel/definition/json.js'
import type { StateEntry, StateKind } from '../../../kernel/state/state-entry.js'

/** A note's row. */
export interface StateRow {
  readonly kind: string
  readonly name: string
  readonly item: string
  readonly revision: number
  readonly at: number
  readonly value: string
}

/** A note as the port has it. */
export function stateEntryOf(row: StateRow): StateEntry {
  return {
    kind: row.kind as StateKind,
    name: row.name,
    item: row.item,
    value: JSON.parse(row.value) as Json,
    revision: row.revision,
    at: row.at,
  }
}
