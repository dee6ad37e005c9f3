/**
 * The changes of one transaction as data: the record that is written to the journal before any file is changed. The
 * same record is applied to the files (`apply-record.ts`) and to the tables of other processes (`state.ts`).
 */
import { fingerprintOf } from '../../../kernel/identity/identity.js'
import type { StoredLogLine } from '../../port.js'
import type { Tables } from '../../memory/tables.js'
import type { QueueFolder } from '../../../formats/queue-file.js'
import type { AuditLine } from './audit-lines.js'
import type { StateLine, SeenLine } from './state-lines.js'
import type { DefinitionLine, HoldLine, RangeLine, TriggerFile, WorkerFile } from './row-files.js'
import type { RunFile } from './run-file.js'

/** One transaction. */
export interface JournalRecord {
  readonly seq: number
  readonly counters: Counters
  readonly changes: readonly Change[]
  /** The sizes of the files to which the transaction appends lines, before it. */
  readonly ends: Readonly<Record<string, number>>
}

/** The counters of the store as a whole. */
export interface Counters {
  readonly epoch: number
  readonly highestAt: number
  readonly lastSeq: number
  readonly lastHold: number
  readonly jobsRevision: number
}

/** The location of a run's file. */
export interface RunPlace {
  readonly folder: QueueFolder
  readonly name: string
}

/** The new content of a row, or its removal. */
export type Change =
  | {
      readonly kind: 'run'
      readonly from?: RunPlace | undefined
      readonly to: RunPlace
      readonly file: RunFile
    }
  | { readonly kind: 'pruned'; readonly id: string; readonly from: RunPlace }
  | { readonly kind: 'log'; readonly run: string; readonly lines: readonly StoredLogLine[] }
  | { readonly kind: 'trigger'; readonly file: TriggerFile }
  | { readonly kind: 'worker'; readonly file: WorkerFile }
  | { readonly kind: 'worker-forgotten'; readonly id: string }
  | { readonly kind: 'hold'; readonly line: HoldLine }
  | { readonly kind: 'range'; readonly line: RangeLine }
  | { readonly kind: 'note'; readonly line: StateLine }
  | { readonly kind: 'seen'; readonly line: SeenLine }
  // Not a `line`: the previous release ignores unknown changes, but not unknown lines.
  | { readonly kind: 'audit'; readonly entry: AuditLine }
  | { readonly kind: 'definitions'; readonly lines: readonly DefinitionLine[] }

/** The file to which each kind of change adds its line. */
export const lineFiles = {
  hold: 'holds.jsonl',
  range: 'ledger.jsonl',
  note: 'notes.jsonl',
  seen: 'seen.jsonl',
} as const

/** The file of the audit. */
export const auditFile = 'audit.jsonl'

/** A line of `history.jsonl`: a final run and the location of its file, or a run that is no longer final. */
export type HistoryLine =
  | { readonly folder: QueueFolder; readonly name: string; readonly run: RunFile }
  | { readonly gone: string }

/** The counters of the tables. */
export function countersOf(tables: Tables): Counters {
  const { epoch, highestAt, lastSeq, lastHold, jobsRevision } = tables
  return { epoch, highestAt, lastSeq, lastHold, jobsRevision }
}

/** The name of a run's log file. */
export function logName(run: string): string {
  return `logs/${run}.jsonl`
}

/** The longest name that is used unchanged. */
const longestName = 120

/** A name as part of a file name: readable, and unique on file systems that ignore case. */
export function fileKey(name: string): string {
  const safe = encodeURIComponent(name)
  if (safe.length <= longestName && name.toLowerCase() === name) return safe
  return `${safe.slice(0, longestName)}~${fingerprintOf(name).slice(0, 12)}`
}

/** Whether runs in this folder are part of the history. */
export function isHistory(folder: QueueFolder): boolean {
  return folder === 'done' || folder === 'failed'
}

/** Formats objects as JSON lines. */
export function toLines(objects: readonly unknown[]): string {
  return objects.map((object) => `${JSON.stringify(object)}\n`).join('')
}
