import type { Json } from '../../kernel/definition/json.js'
import type { Note, NoteKind } from '../../kernel/state/note.js'

/** A note's row. */
export interface NoteRow {
  readonly kind: string
  readonly name: string
  readonly item: string
  readonly revision: number
  readonly at: number
  readonly value: string
}

/** A note as the port has it. */
export function noteOf(row: NoteRow): Note {
  return {
    kind: row.kind as NoteKind,
    name: row.name,
    item: row.item,
    value: JSON.parse(row.value) as Json,
    revision: row.revision,
    at: row.at,
  }
}
