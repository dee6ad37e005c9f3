/**
 * What one transaction changes, as data: the record that is written to the journal before any file is touched. The
 * same record is applied to the files (`apply-record.ts`), and to the tables of other processes (`state.ts`).
 */
import { fingerprintOf } from '../../../kernel/identity/identity.js'
import type { StoredLogLine } from '../../port.js'
import type { Tables } from '../../memory/tables.js'
import type { QueueFolder } from './directory.js'
import type { StateLine, SeenLine } from './state-lines.js'
import type { DefinitionLine, HoldLine, RangeLine, TriggerFile, WorkerFile } from './row-files.js'
import type { RunFile } from './run-file.js'

/** One transaction. */
export interface JournalRecord {
  readonly seq: number
  readonly counters: Counters
  readonly changes: readonly Change[]
  /** Where the files to which lines are added ended before it. */
  readonly ends: Readonly<Record<string, number>>
}

/** The numbers that belong to the store as a whole. */
export interface Counters {
  readonly epoch: number
  readonly highestAt: number
  readonly lastSeq: number
  readonly lastHold: number
  readonly jobsRevision: number
}

/** Where the file of a run is. */
export interface RunPlace {
  readonly folder: QueueFolder
  readonly name: string
}

/** A row as it is from now on, or the end of one. */
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
  | { readonly kind: 'definitions'; readonly lines: readonly DefinitionLine[] }

/** A line of `history.jsonl`: a final run and where its file lies, or that a run is final no more. */
export type HistoryLine =
  | { readonly folder: QueueFolder; readonly name: string; readonly run: RunFile }
  | { readonly gone: string }

/** The numbers as they stand in the tables. */
export function countersOf(tables: Tables): Counters {
  const { epoch, highestAt, lastSeq, lastHold, jobsRevision } = tables
  return { epoch, highestAt, lastSeq, lastHold, jobsRevision }
}

/** Where the log of a run is. */
export function logName(run: string): string {
  return `logs/${run}.jsonl`
}

/** The longest name that is used as it is. */
const longestName = 120

/** A name as part of a file's name: readable, and different from every other also where case does not count. */
export function fileKey(name: string): string {
  const safe = encodeURIComponent(name)
  if (safe.length <= longestName && name.toLowerCase() === name) return safe
  return `${safe.slice(0, longestName)}~${fingerprintOf(name).slice(0, 12)}`
}

/** Whether a run in this directory is part of the history. */
export function isHistory(folder: QueueFolder): boolean {
  return folder === 'done' || folder === 'failed'
}

/** Objects as lines. */
export function toLines(objects: readonly unknown[]): string {
  return objects.map((object) => `${JSON.stringify(object)}\n`).join('')
}
