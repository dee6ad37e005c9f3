import type { EndEffects } from '../../kernel/run/end-effect.js'
import type { Clock } from '../../time/clock.js'
import type { StoreWarning } from '../store-health.js'
import { applyRecord, linesOf } from './layout/apply-record.js'
import type { Directory } from './layout/directory.js'
import { isFull, toRotaError } from './errors.js'
import { failMalformed, takeForeign } from './foreign.js'
import type { Journal } from './journal.js'
import { loadState } from './load.js'
import { allStateLines, allSeenLines } from './layout/state-lines.js'
import { toLines, type Change, type Counters, type JournalRecord } from './layout/record.js'
import type { State } from './state.js'

/** How often it is looked what others did to `pending`. */
const foreignEveryMs = 500

/** How many faults, and how many warnings, are remembered. */
const maxFaults = 100

/** A file of lines is written anew when it has grown to twice what it was, and beyond this. */
const smallBytes = 256 * 1024

const linedFiles = ['history.jsonl', 'ledger.jsonl', 'notes.jsonl', 'seen.jsonl'] as const

/** One process on a directory: what it knows, and how it learns and writes what is new. All but `look` needs the lock. */
export class Session {
  readonly directory: Directory
  readonly url: string
  readonly #journal: Journal
  readonly #clock: Clock
  readonly #id: string
  readonly #endEffects: EndEffects | undefined
  readonly #faults = new Set<string>()
  readonly #warnings = new Map<string, StoreWarning>()
  readonly #compactBytes = new Map<string, number>()
  #state: State | undefined
  #foreignAtMs = -Infinity

  constructor(options: {
    directory: Directory
    journal: Journal
    clock: Clock
    url: string
    id: string
    endEffects: EndEffects | undefined
  }) {
    this.directory = options.directory
    this.url = options.url
    this.#journal = options.journal
    this.#clock = options.clock
    this.#id = options.id
    this.#endEffects = options.endEffects
  }

  /** What was found wrong since the store was opened, newest last. */
  get faults(): readonly string[] {
    return [...this.#faults]
  }

  /** What others left in the directory that is no run, newest last: no damage. */
  get warnings(): readonly StoreWarning[] {
    return [...this.#warnings.values()]
  }

  /** The number of the last transaction that this process knows of. */
  get seq(): number {
    return this.#journal.seq
  }

  /** What was committed, without the lock; absent where the store has to be loaded anew. */
  look(): State | undefined {
    if (this.#state === undefined) return undefined
    const { records, isBehind } = this.#journal.news(false)
    if (isBehind) this.#state = undefined
    for (const record of records) this.#state?.take(record)
    return this.#state
  }

  /** What was committed, with all of it in the files. */
  refresh(): State {
    if (this.#state !== undefined) {
      const { records, unapplied, isBehind } = this.#journal.news(true)
      for (const record of records) this.#state.take(record)
      if (unapplied !== undefined) {
        this.#apply(unapplied, { isAgain: true })
        this.#state.take(unapplied)
      }
      if (!isBehind) return this.#state
    }
    return this.#load()
  }

  /** Applies operations and commits them together. Where one throws, nothing of them has happened. */
  transact<T>(apply: (state: State) => T): T {
    const state = this.refresh()
    const isLong = this.#journal.isLong
    if (isLong) this.#turnJournal(state)
    try {
      state.begin()
      if (isLong) state.forgetWorkers()
      this.#takeForeign(state)
      const answer = apply(state)
      const written = state.end()
      if (written !== undefined) this.#commit(written)
      return answer
    } catch (error) {
      // What the tables say now may be half of it; the files say what is true.
      this.#state = undefined
      throw error
    }
  }

  /** Writes the highest time down, if it is not yet. */
  writeTime(): void {
    const state = this.refresh()
    if (!state.isTimeUnwritten) return
    state.begin()
    state.end()
    this.#commit({ counters: { ...this.#journal.counters, highestAt: state.tables.highestAt }, changes: [] })
  }

  report(fault: string): void {
    this.#faults.add(fault)
    forgetOldest(this.#faults)
  }

  /** Notes what is no damage, and what to do about it. */
  warn(warning: StoreWarning): void {
    this.#warnings.set(warning.message, warning)
    forgetOldest(this.#warnings)
  }

  /** Moves what is no run out of `pending`, where it would lie for ever. */
  failMalformed(state: State): void {
    const { directory } = this
    failMalformed({ directory, state, now: this.#clock.now(), warn: (warning) => this.warn(warning) })
  }

  close(): void {
    this.#journal.close()
    this.#state = undefined
  }

  #load(): State {
    const { directory, url } = this
    const unapplied = this.#journal.open()
    if (unapplied !== undefined) this.#apply(unapplied, { isAgain: true })
    const report = (fault: string): void => this.report(fault)
    const warn = (warning: StoreWarning): void => this.warn(warning)
    const parts = { journal: this.#journal, id: this.#id, endEffects: this.#endEffects }
    this.#state = loadState({ directory, url, ...parts, report, warn })
    for (const name of linedFiles) this.#compactBytes.set(name, directory.sizeOf(name))
    return this.#state
  }

  #takeForeign(state: State): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#foreignAtMs < foreignEveryMs) return
    this.#foreignAtMs = nowMs
    const { directory } = this
    takeForeign({ directory, state, now: this.#clock.now(), warn: (warning) => this.warn(warning) })
  }

  #commit({ counters, changes }: { counters: Counters; changes: readonly Change[] }): void {
    const names = [...linesOf(changes).keys()]
    const ends = Object.fromEntries(names.map((name) => [name, this.directory.sizeOf(name)]))
    const record = { seq: this.#journal.seq + 1, counters, changes, ends }
    this.#journal.commit(record)
    try {
      this.#apply(record, { isAgain: false })
    } catch (error) {
      // It is committed: whoever takes the lock next applies it, when there is room.
      if (!isFull(toRotaError(error, this.url))) throw error
    }
  }

  #apply(record: JournalRecord, how: { isAgain: boolean }): void {
    for (const fault of applyRecord(this.directory, record, how)) this.report(fault)
    this.#journal.settle(record)
  }

  #turnJournal(state: State): void {
    const lines = {
      'history.jsonl': () => state.history(),
      'ledger.jsonl': () => state.ledger(),
      'notes.jsonl': () => allStateLines(state.tables),
      'seen.jsonl': () => allSeenLines(state.tables),
    }
    for (const name of linedFiles) {
      const compact = Math.max(smallBytes, this.#compactBytes.get(name) ?? 0)
      if (this.directory.sizeOf(name) < 2 * compact) continue
      this.directory.replace(name, toLines([...lines[name]()]))
      this.#compactBytes.set(name, this.directory.sizeOf(name))
    }
    this.directory.syncFolders()
    this.#journal.turn()
  }
}

function forgetOldest(found: Set<string> | Map<string, StoreWarning>): void {
  for (const oldest of found.keys()) {
    if (found.size <= maxFaults) return
    found.delete(oldest)
  }
}
