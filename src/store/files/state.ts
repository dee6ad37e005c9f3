import { randomUUID } from 'node:crypto'
import type { LogUse } from '../../kernel/definition/bounds.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { EndEffects } from '../../kernel/run/end-effect.js'
import { restoreHold, restoreRun, restoreTrigger, restoreWorker, withdrawRun } from '../memory/restore.js'
import {
  addRange,
  dropRange,
  forgetDerived,
  emptyTables,
  nothingTouched,
  type RangeRow,
  type RunRow,
  type Tables,
} from '../memory/tables.js'
import type { StoredLogLine } from '../port.js'
import {
  countersOf,
  type Change,
  type Counters,
  type HistoryLine,
  type JournalRecord,
  type RunPlace,
} from './layout/record.js'
import {
  fromTriggerFile,
  holdFormat,
  rangeFormat,
  toDefinitionLines,
  toTriggerFile,
  workerFormat,
  type DefinitionLine,
  type RangeLine,
} from './layout/row-files.js'
import { applyAuditLine, auditLinesOf } from './layout/audit-lines.js'
import { stateLinesOf, seenLinesOf, applyStateLine, applySeenLine } from './layout/state-lines.js'
import { fileNameOf } from '../../formats/queue-file.js'
import { extraOf, folderOf, fromRunFile, toRunFile, type RunFile } from './layout/run-file.js'

/** Longer ids of other designs are not used in file names. */
const longestId = 120

/** How long a gone worker is remembered, so that none comes back under its id. */
const rememberMs = 24 * 3_600_000

/** How much of its size limit a log uses, and how many lines it has. */
export interface LogState {
  readonly use: LogUse
  readonly count: number
}

/** The file of a run: its location, and the keys of other programs in it. */
interface RunLocation extends RunPlace {
  readonly extra: Readonly<Record<string, unknown>>
}

/** What a process knows about a store: the tables, and the file of each row. */
export class State {
  readonly tables: Tables
  /** The use of each log that has been read. */
  readonly logs = new Map<RunId, LogState>()
  /** The lines that the current transaction adds to logs. */
  readonly newLines = new Map<RunId, StoredLogLine[]>()
  readonly #files = new Map<RunId, RunLocation>()
  readonly #names = new Map<string, RunId>()
  readonly #pending = new Map<string, RunId>()
  readonly #ranges = new Map<number, RangeRow>()
  #definitions = ''
  #counters: Counters

  constructor(id: string = randomUUID(), endEffects?: EndEffects) {
    this.tables = { ...emptyTables(endEffects), id }
    this.#counters = countersOf(this.tables)
  }

  /** The run whose file has this name, in any folder. */
  ownerOf(name: string): RunId | undefined {
    return this.#names.get(name)
  }

  /** The names of the files that belong in `pending`, with their runs. */
  get pending(): ReadonlyMap<string, RunId> {
    return this.#pending
  }

  /** The runs that have a file. */
  runsWithFile(): Iterable<RunId> {
    return this.#files.keys()
  }

  /** The location of a run's file. */
  placeOf(id: RunId): RunPlace | undefined {
    const file = this.#files.get(id)
    return file === undefined ? undefined : { folder: file.folder, name: file.name }
  }

  /** All runs of the history as lines. */
  *history(): Iterable<HistoryLine> {
    for (const row of this.tables.final) {
      const place = this.placeOf(row.id)
      if (place !== undefined) yield { ...place, run: this.#fileOf(row) }
    }
  }

  /** All ranges of the ledger as lines. */
  *ledger(): Iterable<RangeLine> {
    for (const range of this.#ranges.values()) yield rangeFormat.write(range)
  }

  /** Starts to record changes. */
  begin(): void {
    this.tables.touched = nothingTouched()
    this.newLines.clear()
  }

  /** Removes gone workers that have no runs, after a while. */
  forgetWorkers(): void {
    const { workers, touched, highestAt } = this.tables
    for (const worker of workers.values()) {
      if (!worker.isGone || worker.running.size > 0 || worker.leaseUntil > highestAt - rememberMs) continue
      workers.delete(worker.id)
      touched?.workers.add(worker)
    }
  }

  /** The changes since `begin`; undefined if none has to be written. */
  end(): { counters: Counters; changes: Change[] } | undefined {
    const changes = this.#changes()
    this.tables.touched = undefined
    const counters = countersOf(this.tables)
    const { epoch, jobsRevision } = this.#counters
    const isSame = counters.epoch === epoch && counters.jobsRevision === jobsRevision
    if (changes.length === 0 && isSame) return undefined
    this.#counters = counters
    return { counters, changes }
  }

  /** Whether a later time is known than the written one. */
  get isTimeUnwritten(): boolean {
    return this.tables.highestAt > this.#counters.highestAt
  }

  /** Applies a transaction that another process committed, or this one before it died. */
  apply(record: JournalRecord): void {
    for (const change of record.changes) this.applyChange(change)
    this.applyCounters(record.counters)
  }

  applyCounters(counters: Counters): void {
    const { tables } = this
    // A time that this process knows but has not written stays: it never goes back.
    const highestAt = Math.max(tables.highestAt, counters.highestAt)
    Object.assign(tables, counters, { highestAt })
    this.#counters = counters
  }

  applyChange(change: Change): void {
    const { tables } = this
    switch (change.kind) {
      case 'run':
        this.applyRun(change.file, change.to)
        return
      case 'pruned':
        withdrawRun(tables, change.id)
        this.#forget(change.id)
        return
      case 'log':
        this.logs.delete(change.run)
        return
      case 'trigger':
        restoreTrigger(tables, fromTriggerFile(change.file))
        return
      case 'worker':
        restoreWorker(tables, workerFormat.read(change.file))
        return
      case 'worker-forgotten':
        tables.workers.delete(change.id)
        return
      case 'hold':
        restoreHold(tables, holdFormat.read(change.line))
        return
      case 'range':
        this.#applyRange(change.line)
        return
      case 'note':
        applyStateLine(tables, change.line)
        return
      case 'seen':
        applySeenLine(tables, change.line)
        return
      case 'audit':
        applyAuditLine(tables, change.entry)
        return
      case 'definitions':
        this.#applyDefinitions(change.lines)
    }
  }

  /** Applies a run and the location of its file. */
  applyRun(file: RunFile, place: RunPlace): void {
    restoreRun(this.tables, fromRunFile(file))
    this.setFile(file.rota.id, { ...place, extra: extraOf(file) })
  }

  /** Records the location of a run's file. */
  setFile(id: RunId, file: RunLocation): void {
    this.#files.set(id, file)
    this.#names.set(file.name, id)
    if (file.folder === 'pending') this.#pending.set(file.name, id)
    else this.#pending.delete(file.name)
  }

  /** Records that the file of a run is missing: the next one is written, not moved. */
  dropFile(id: RunId): void {
    const file = this.#files.get(id)
    if (file !== undefined) this.#pending.delete(file.name)
    this.#files.delete(id)
  }

  #applyRange(line: RangeLine): void {
    const known = this.#ranges.get(line.seq)
    if (known !== undefined) dropRange(this.tables, known)
    this.#ranges.delete(line.seq)
    if ('removed' in line) return
    const range = rangeFormat.read(line)
    addRange(this.tables, range)
    this.#ranges.set(range.seq, range)
  }

  #applyDefinitions(lines: readonly DefinitionLine[]): void {
    const { jobs, queues } = this.tables
    forgetDerived(this.tables)
    jobs.clear()
    queues.clear()
    for (const line of lines) {
      if (line.kind === 'job') jobs.set(line.name, { job: line.job, source: line.source })
      else queues.set(line.name, line.queue)
    }
    this.#definitions = JSON.stringify(toDefinitionLines(this.tables))
  }

  #changes(): Change[] {
    const { touched } = this.tables
    if (touched === undefined) return []
    const changes: Change[] = []
    if (touched.definitions) changes.push(...this.#definitionChange())
    for (const row of touched.triggers) {
      if (this.tables.triggers.get(row.trigger.name) === row)
        changes.push({ kind: 'trigger', file: toTriggerFile(row) })
    }
    for (const row of touched.workers) {
      const isKnown = this.tables.workers.get(row.id) === row
      changes.push(
        isKnown
          ? { kind: 'worker', file: workerFormat.write(row) }
          : { kind: 'worker-forgotten', id: row.id },
      )
    }
    for (const row of touched.holds) changes.push({ kind: 'hold', line: holdFormat.write(row) })
    for (const [seq, range] of touched.ranges) changes.push(...this.#rangeChange(seq, range))
    for (const line of stateLinesOf(touched)) changes.push({ kind: 'note', line })
    for (const line of seenLinesOf(touched)) changes.push({ kind: 'seen', line })
    for (const entry of auditLinesOf(touched)) changes.push({ kind: 'audit', entry })
    for (const row of touched.runs) changes.push(...this.#runChange(row))
    for (const [run, lines] of this.newLines) changes.push({ kind: 'log', run, lines: [...lines] })
    return changes
  }

  #definitionChange(): Change[] {
    const lines = toDefinitionLines(this.tables)
    const text = JSON.stringify(lines)
    if (text === this.#definitions) return []
    this.#definitions = text
    return [{ kind: 'definitions', lines }]
  }

  #rangeChange(seq: number, range: RangeRow | undefined): Change[] {
    if (range !== undefined) {
      this.#ranges.set(seq, range)
      return [{ kind: 'range', line: rangeFormat.write(range) }]
    }
    return this.#ranges.delete(seq) ? [{ kind: 'range', line: { seq, removed: true } }] : []
  }

  #runChange(row: RunRow): Change[] {
    const from = this.placeOf(row.id)
    if (this.tables.runs.get(row.id) !== row) {
      // A run that was created and removed in the same transaction was never written.
      if (from === undefined) return []
      this.#forget(row.id)
      return [{ kind: 'pruned', id: row.id, from }]
    }
    const to = { folder: folderOf(row.phase), name: from?.name ?? this.#freeName(row) }
    this.setFile(row.id, { ...to, extra: this.#files.get(row.id)?.extra ?? {} })
    return [{ kind: 'run', from, to, file: this.#fileOf(row) }]
  }

  #fileOf(row: RunRow): RunFile {
    const worker = this.tables.workers.get(row.worker ?? '')
    return toRunFile(row, { worker, extra: this.#files.get(row.id)?.extra ?? {} })
  }

  /** Named after the id that people know, or after its own id if another run has that name. */
  #freeName(row: RunRow): string {
    const label = row.labels?.['job_id'] ?? row.id
    const name = fileNameOf(row.dueAt, label)
    const isTaken = (this.#names.get(name) ?? row.id) !== row.id
    return isTaken || label.length > longestId ? fileNameOf(row.dueAt, row.id) : name
  }

  #forget(id: RunId): void {
    const file = this.#files.get(id)
    if (file !== undefined) this.#pending.delete(file.name)
    if (file !== undefined && this.#names.get(file.name) === id) this.#names.delete(file.name)
    this.#files.delete(id)
    this.logs.delete(id)
  }
}
