/** The ledger as a file. */
import type { LedgerEntry } from '../../../../src/client/operations.js'

/** The export formats. */
export type ExportFormat = 'csv' | 'ndjson'

const columns = [
  'seq',
  'trigger',
  'version',
  'firstAt',
  'lastAt',
  'reason',
  'rule',
  'blocker',
  'detail',
  'recordedAt',
] as const satisfies readonly (keyof LedgerEntry)[]

/** Ranges as text. */
export function exportText(entries: readonly LedgerEntry[], format: ExportFormat): string {
  if (format === 'ndjson') return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
  const lines = entries.map((entry) => columns.map((column) => csvCell(entry[column])).join(','))
  return [columns.join(','), ...lines].map((line) => `${line}\r\n`).join('')
}

/** A cell as RFC 4180 has it. A text that a spreadsheet would take for a formula gets an apostrophe. */
function csvCell(value: string | number | null): string {
  const text = value === null ? '' : String(value)
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
