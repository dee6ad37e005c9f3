/** Audit entries as lines: the last line with an id is current, and may remove the entry. */
import type { StoredAuditEntry } from '../../../kernel/audit/audit.js'
import { putEntry } from '../../memory/audit/entries.js'
import type { Tables, Touched } from '../../memory/tables.js'
import { instant, rowFormat, type FileOf } from './row-format.js'

const entryFormat = rowFormat<StoredAuditEntry>()({
  seq: 'seq',
  id: 'id',
  at: ['at', instant],
  actor: 'actor',
  via: 'via',
  action: 'action',
  target: 'target',
  reason: 'reason',
  before: 'before',
  after: 'after',
})

/** A line of `audit.jsonl`. */
export type AuditLine = FileOf<typeof entryFormat> | { readonly id: string; readonly removed: true }

/** The lines for the entries that a transaction wrote or removed. */
export function auditLinesOf({ audit }: Touched): AuditLine[] {
  return [...audit].map(([id, entry]) =>
    entry === undefined ? { id, removed: true } : entryFormat.write(entry),
  )
}

/** All entries as lines. */
export function* allAuditLines(tables: Tables): Iterable<AuditLine> {
  for (const entry of tables.audit.values()) yield entryFormat.write(entry)
}

/** Applies a line of `audit.jsonl`. */
export function applyAuditLine(tables: Tables, line: AuditLine): void {
  if ('removed' in line) tables.audit.delete(line.id)
  else putEntry(tables, entryFormat.read(line))
}
