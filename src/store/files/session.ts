import type { EndEffects } from '../../kernel/run/end-effect.js'
import type { Clock } from '../../time/clock.js'
import type { StoreWarning } from '../store-health.js'
import { applyRecord, linesOf } from './layout/apply-record.js'
import type { Directory } from './layout/directory.js'
import { isFull, toRotaError } from './errors.js'
import { failMalformed, importForeign } from './foreign.js'
import type { Journal } from './journal.js'
import { loadState } from './load.js'
import { allAuditLines } from './layout/audit-lines.js'
import { allStateLines, allSeenLines } from './layout/state-lines.js'
import { auditFile, toLines, type Change, type Counters, type JournalRecord } from './layout/record.js'
import type { State } from './state.js'

/** How often the folders are scanned for changes by others. */
const foreignEveryMs = 500

/** The most faults, and the most warnings, that are remembered. */
const maxFaults = 100

/** A file of lines is compacted when it has doubled and is larger than this. */
const smallBytes = 256 * 1024

/** The files of lines that are compacted, and the lines of their current rows. */
const compactedFiles: Readonly<Record<string, (state: State) => Iterable<unknown>>> = {
  'history.jsonl': (state) => state.history(),
  'ledger.jsonl': (state) => state.ledger(),
  'notes.jsonl': ({ tables }) => allStateLines(tables),
  'seen.jsonl': ({ tables }) => allSeenLines(tables),
  [auditFile]: ({ tables }) => allAuditLines(tables),
}

interface SessionOptions {
  readonly directory: Directory
  readonly journal: Journal
  readonly clock: Clock
  readonly url: string
  /** The id of the store. */
  readonly id: string
  readonly endEffects: EndEffects | undefined
}

/** One process on a directory. All methods except `readCommitted` need the lock. */
export class Session {
  readonly directory: Directory
  readonly url: string
  readonly #journal: Journal
  readonly #options: SessionOptions
  readonly #faults = new Set<string>()
  readonly #warnings = new Map<string, StoreWarning>()
  readonly #compactBytes = new Map<string, number>()
  #state: State | undefined
  #foreignAtMs = -Infinity

  constructor(options: SessionOptions) {
    this.#options = options
    this.directory = options.directory
    this.url = options.url
    this.#journal = options.journal
  }

  /** The faults found since the store was opened, newest last. */
  get faults(): readonly string[] {
    return [...this.#faults]
  }

  /** Files of others that are not runs, newest last; they are not damage. */
  get warnings(): readonly StoreWarning[] {
    return [...this.#warnings.values()]
  }

  /** The number of the last transaction that this process knows. */
  get seq(): number {
    return this.#journal.seq
  }

  /** The committed state, without the lock; undefined if the store has to be loaded again. */
  readCommitted(): State | undefined {
    if (this.#state === undefined) return undefined
    const { records, isBehind } = this.#journal.readNew(false)
    if (isBehind) this.#state = undefined
    for (const record of records) this.#state?.apply(record)
    return this.#state
  }

  /** The committed state, with all of it in the files. */
  refresh(): State {
    if (this.#state !== undefined) {
      const { records, unapplied, isBehind } = this.#journal.readNew(true)
      for (const record of records) this.#state.apply(record)
      if (unapplied !== undefined) {
        this.#apply(unapplied, { isAgain: true })
        this.#state.apply(unapplied)
      }
      if (!isBehind) return this.#state
    }
    return this.#load()
  }

  /** Applies operations and commits them together. If one throws, nothing has happened. */
  transact<T>(apply: (state: State) => T): T {
    const state = this.refresh()
    const needsRotation = this.#journal.needsRotation
    if (needsRotation) this.#compactAndRotate(state)
    try {
      state.begin()
      if (needsRotation) state.forgetWorkers()
      this.#importForeign(state)
      const answer = apply(state)
      const written = state.end()
      if (written !== undefined) this.#commit(written)
      return answer
    } catch (error) {
      // The tables may contain half of the changes; the files are correct.
      this.#state = undefined
      throw error
    }
  }

  /** Writes the highest time if it is not written yet. */
  writeTime(): void {
    const state = this.refresh()
    if (!state.isTimeUnwritten) return
    state.begin()
    state.end()
    this.#commit({ counters: { ...this.#journal.counters, highestAt: state.tables.highestAt }, changes: [] })
  }

  /** Moves files that are not runs out of `pending`, where they would stay forever. */
  failMalformed(state: State): void {
    failMalformed(this.#scanOf(state))
  }

  close(): void {
    this.#journal.close()
    this.#state = undefined
  }

  #load(): State {
    const unapplied = this.#journal.open()
    if (unapplied !== undefined) this.#apply(unapplied, { isAgain: true })
    this.#state = loadState({ ...this.#options, report: this.#report, warn: this.#warn })
    for (const name of Object.keys(compactedFiles)) this.#compactBytes.set(name, this.directory.sizeOf(name))
    return this.#state
  }

  #importForeign(state: State): void {
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs - this.#foreignAtMs < foreignEveryMs) return
    this.#foreignAtMs = nowMs
    importForeign(this.#scanOf(state))
  }

  #scanOf(state: State): Parameters<typeof importForeign>[0] {
    return { directory: this.directory, state, now: this.#options.clock.now(), warn: this.#warn }
  }

  readonly #report = (fault: string): void => {
    this.#faults.add(fault)
    forgetOldest(this.#faults)
  }

  readonly #warn = (warning: StoreWarning): void => {
    this.#warnings.set(warning.message, warning)
    forgetOldest(this.#warnings)
  }

  #commit({ counters, changes }: { counters: Counters; changes: readonly Change[] }): void {
    const names = [...linesOf(changes).keys()]
    const ends = Object.fromEntries(names.map((name) => [name, this.directory.sizeOf(name)]))
    const record = { seq: this.#journal.seq + 1, counters, changes, ends }
    this.#journal.commit(record)
    try {
      this.#apply(record, { isAgain: false })
    } catch (error) {
      // Already committed: the process that takes the lock next applies it once there is room.
      if (!isFull(toRotaError(error, this.url))) throw error
    }
  }

  #apply(record: JournalRecord, how: { isAgain: boolean }): void {
    for (const fault of applyRecord(this.directory, record, how)) this.#report(fault)
    this.#journal.markApplied(record)
  }

  #compactAndRotate(state: State): void {
    for (const [name, linesOf] of Object.entries(compactedFiles)) {
      const compact = Math.max(smallBytes, this.#compactBytes.get(name) ?? 0)
      if (this.directory.sizeOf(name) < 2 * compact) continue
      this.directory.replace(name, toLines([...linesOf(state)]))
      this.#compactBytes.set(name, this.directory.sizeOf(name))
    }
    this.directory.syncFolders()
    this.#journal.rotate()
  }
}

function forgetOldest(found: Set<string> | Map<string, StoreWarning>): void {
  for (const oldest of found.keys()) {
    if (found.size <= maxFaults) return
    found.delete(oldest)
  }
}
