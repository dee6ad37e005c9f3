import { randomUUID } from 'node:crypto'
import type { LogUse } from '../../kernel/definition/bounds.js'
import type { RunId } from '../../kernel/identity/identity.js'
import type { EndEffects } from '../../kernel/run/end-effect.js'
import { restoreHold, restoreRun, restoreTrigger, restoreWorker, withdrawRun } from '../memory/restore.js'
import {
  addRange,
  dropRange,
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
  fromHoldLine,
  fromRangeLine,
  fromTriggerFile,
  fromWorkerFile,
  toDefinitionLines,
  toHoldLine,
  toRangeLine,
  toTriggerFile,
  toWorkerFile,
  type DefinitionLine,
  type RangeLine,
} from './layout/row-files.js'
import { stateLinesOf, seenLinesOf, readStateLine, takeSeenLine } from './layout/state-lines.js'
import { extraOf, fileNameOf, folderOf, fromRunFile, toRunFile, type RunFile } from './layout/run-file.js'

/** The longest id of another design that names a file. */
const longestId = 120

/** For how long a worker that is gone is remembered: nobody may come back under its id. */
const rememberMs = 24 * 3_600_000

/** How much of its log a run has used, and how many lines lie in it. */
export interface LogState {
  readonly use: LogUse
  readonly count: number
}

/** What a run's file is called and which keys of others it has. */
interface Kept extends RunPlace {
  readonly extra: Readonly<Record<string, unknown>>
}

/** What a process knows of a store: the tables, and where each row of them lies. */
export class State {
  readonly tables: Tables
  /** How much of each log is used, as far as it was asked for. */
  readonly logs = new Map<RunId, LogState>()
  /** The lines that the transaction under way adds to logs. */
  readonly newLines = new Map<RunId, StoredLogLine[]>()
  readonly #kept = new Map<RunId, Kept>()
  readonly #names = new Map<string, RunId>()
  readonly #pending = new Map<string, RunId>()
  readonly #ranges = new Map<number, RangeRow>()
  #definitions = ''
  #counters: Counters

  constructor(id: string = randomUUID(), endEffects?: EndEffects) {
    this.tables = { ...emptyTables(endEffects), id }
    this.#counters = countersOf(this.tables)
  }

  /** Whose file has this name, in whatever directory. */
  ownerOf(name: string): RunId | undefined {
    return this.#names.get(name)
  }

  /** The names of the files that should lie in `pending`, with their runs. */
  get pending(): ReadonlyMap<string, RunId> {
    return this.#pending
  }

  /** The runs that have a file. */
  keptRuns(): Iterable<RunId> {
    return this.#kept.keys()
  }

  /** Where the file of a run lies. */
  placeOf(id: RunId): RunPlace | undefined {
    const kept = this.#kept.get(id)
    return kept === undefined ? undefined : { folder: kept.folder, name: kept.name }
  }

  /** Every run of the history, as it is written down. */
  *history(): Iterable<HistoryLine> {
    for (const row of this.tables.final) {
      const place = this.placeOf(row.id)
      if (place !== undefined) yield { ...place, run: this.#fileOf(row) }
    }
  }

  /** Every range of the ledger, as it is written down. */
  *ledger(): Iterable<RangeLine> {
    for (const range of this.#ranges.values()) yield toRangeLine(range)
  }

  /** Begins to note what is touched. */
  begin(): void {
    this.tables.touched = nothingTouched()
    this.newLines.clear()
  }

  /** Forgets workers that are long gone and hold nothing. */
  forgetWorkers(): void {
    const { workers, touched, highestAt } = this.tables
    for (const worker of workers.values()) {
      if (!worker.isGone || worker.running.size > 0 || worker.leaseUntil > highestAt - rememberMs) continue
      workers.delete(worker.id)
      touched?.workers.add(worker)
    }
  }

  /** What was touched since `begin`, written down; absent where nothing was that has to be kept. */
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

  /** Whether a later time was seen than the one written down. */
  get isTimeUnwritten(): boolean {
    return this.tables.highestAt > this.#counters.highestAt
  }

  /** Takes in what another process, or this one before it died, has committed. */
  take(record: JournalRecord): void {
    for (const change of record.changes) this.takeChange(change)
    this.takeCounters(record.counters)
  }

  takeCounters(counters: Counters): void {
    const { tables } = this
    // A time that this process has seen and not written yet stays: it never goes back.
    const highestAt = Math.max(tables.highestAt, counters.highestAt)
    Object.assign(tables, counters, { highestAt })
    this.#counters = counters
  }

  takeChange(change: Change): void {
    const { tables } = this
    switch (change.kind) {
      case 'run':
        this.takeRun(change.file, change.to)
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
        restoreWorker(tables, fromWorkerFile(change.file))
        return
      case 'worker-forgotten':
        tables.workers.delete(change.id)
        return
      case 'hold':
        restoreHold(tables, fromHoldLine(change.line))
        return
      case 'range':
        this.#takeRange(change.line)
        return
      case 'note':
        readStateLine(tables, change.line)
        return
      case 'seen':
        takeSeenLine(tables, change.line)
        return
      case 'definitions':
        this.#takeDefinitions(change.lines)
    }
  }

  /** Takes in a run and where its file is. */
  takeRun(file: RunFile, place: RunPlace): void {
    restoreRun(this.tables, fromRunFile(file))
    this.keep(file.rota.id, { ...place, extra: extraOf(file) })
  }

  /** Notes where the file of a run is. */
  keep(id: RunId, kept: Kept): void {
    this.#kept.set(id, kept)
    this.#names.set(kept.name, id)
    if (kept.folder === 'pending') this.#pending.set(kept.name, id)
    else this.#pending.delete(kept.name)
  }

  /** Notes that the file of a run is gone: the next one is made, not moved. */
  lose(id: RunId): void {
    const kept = this.#kept.get(id)
    if (kept !== undefined) this.#pending.delete(kept.name)
    this.#kept.delete(id)
  }

  #takeRange(line: RangeLine): void {
    const known = this.#ranges.get(line.seq)
    if (known !== undefined) dropRange(this.tables, known)
    this.#ranges.delete(line.seq)
    const range = fromRangeLine(line)
    if (range === undefined) return
    addRange(this.tables, range)
    this.#ranges.set(range.seq, range)
  }

  #takeDefinitions(lines: readonly DefinitionLine[]): void {
    const { jobs, queues } = this.tables
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
        isKnown ? { kind: 'worker', file: toWorkerFile(row) } : { kind: 'worker-forgotten', id: row.id },
      )
    }
    for (const row of touched.holds) changes.push({ kind: 'hold', line: toHoldLine(row) })
    for (const [seq, range] of touched.ranges) changes.push(...this.#rangeChange(seq, range))
    for (const line of stateLinesOf(touched)) changes.push({ kind: 'note', line })
    for (const line of seenLinesOf(touched)) changes.push({ kind: 'seen', line })
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
      return [{ kind: 'range', line: toRangeLine(range) }]
    }
    return this.#ranges.delete(seq) ? [{ kind: 'range', line: { seq, removed: true } }] : []
  }

  #runChange(row: RunRow): Change[] {
    const from = this.placeOf(row.id)
    if (this.tables.runs.get(row.id) !== row) {
      // One that was made and forgotten in the same transaction was never written down.
      if (from === undefined) return []
      this.#forget(row.id)
      return [{ kind: 'pruned', id: row.id, from }]
    }
    const to = { folder: folderOf(row.phase), name: from?.name ?? this.#freeName(row) }
    this.keep(row.id, { ...to, extra: this.#kept.get(row.id)?.extra ?? {} })
    return [{ kind: 'run', from, to, file: this.#fileOf(row) }]
  }

  #fileOf(row: RunRow): RunFile {
    const worker = this.tables.workers.get(row.worker ?? '')
    return toRunFile(row, { worker, extra: this.#kept.get(row.id)?.extra ?? {} })
  }

  /** By the id that people know; by its own where another run has that name already. */
  #freeName(row: RunRow): string {
    const label = row.labels?.['job_id'] ?? row.id
    const name = fileNameOf(row.dueAt, label)
    const isTaken = (this.#names.get(name) ?? row.id) !== row.id
    return isTaken || label.length > longestId ? fileNameOf(row.dueAt, row.id) : name
  }

  #forget(id: RunId): void {
    const kept = this.#kept.get(id)
    if (kept !== undefined) this.#pending.delete(kept.name)
    if (kept !== undefined && this.#names.get(kept.name) === id) this.#names.delete(kept.name)
    this.#kept.delete(id)
    this.logs.delete(id)
  }
}
