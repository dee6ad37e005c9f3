/**
 * The journal: one line per transaction, written and made durable before any other file is changed, and a second line
 * once the files are up to date. Only the last transaction can lack that second line; the process that takes the lock
 * next applies it again. The journal is kept in segments, so that other processes can read what they missed: the two
 * newest segments stay, and a process that has missed more than that loads the store again.
 */
import { RotaError } from '../../kernel/definition/errors.js'
import { codeOf } from './disk.js'
import type { Directory } from './layout/directory.js'
import type { Counters, JournalRecord } from './layout/record.js'

/** A segment ends after this many transactions or bytes. */
const maxRecords = 1000
const maxBytes = 8 * 1024 * 1024

type Line =
  | { readonly begins: number; readonly counters: Counters }
  | { readonly applied: number }
  | JournalRecord

/** The transactions that others have committed since the last read. */
export interface JournalNews {
  readonly records: readonly JournalRecord[]
  /** A committed transaction that is not yet completely in the files; only set under the lock. */
  readonly unapplied: JournalRecord | undefined
  /** Whether the journal no longer has all missed transactions. */
  readonly isBehind: boolean
}

/** The journal of a directory as one process reads and writes it. */
export class Journal {
  readonly #directory: Directory
  readonly #url: string
  readonly #isDurable: boolean
  #file: number | undefined
  #name = ''
  /** The end of the lines that were read. */
  #position = 0
  #lines = 0
  #records = 0
  #seq = 0
  #counters: Counters = { epoch: 0, highestAt: 0, lastSeq: 0, lastHold: 0, jobsRevision: 0 }

  constructor(options: { directory: Directory; url: string; isDurable: boolean }) {
    this.#directory = options.directory
    this.#url = options.url
    this.#isDurable = options.isDurable
  }

  /** The number of the last transaction that was read. */
  get seq(): number {
    return this.#seq
  }

  /** The counters of the store after that transaction. */
  get counters(): Counters {
    return this.#counters
  }

  /** Starts with the newest segment, under the lock; returns the transaction that has to be applied again. */
  open(): JournalRecord | undefined {
    const newest = this.#segments().at(-1) ?? this.#make(1)
    this.#openSegment(newest)
    return this.#read(true).unapplied
  }

  /** Reads the transactions since the last read. */
  readNew(isLocked: boolean): JournalNews {
    const records: JournalRecord[] = []
    for (;;) {
      const { taken, unapplied } = this.#read(isLocked)
      records.push(...taken)
      const next = this.#segments().find((name) => name > this.#name)
      if (next === undefined) return { records, unapplied, isBehind: false }
      if (Number.parseInt(next, 10) !== this.#seq + 1 || !this.#tryOpenSegment(next))
        return { records: [], unapplied: undefined, isBehind: true }
    }
  }

  /** Commits a transaction, under the lock: once this returns, the transaction survives any crash. */
  commit(record: JournalRecord): void {
    const data = Buffer.from(`${JSON.stringify(record)}\n`)
    try {
      this.#directory.writeAll(this.#opened, data, this.#position)
      if (this.#isDurable) this.#directory.disk.sync(this.#opened)
    } catch (error) {
      // A partial line must not be read as a transaction.
      this.#directory.disk.truncate(this.#opened, this.#position)
      throw error
    }
  }

  /** Records that the files contain a transaction. Need not be durable: it would only be applied again. */
  markApplied(record: JournalRecord): void {
    const end = this.#directory.disk.size(this.#opened)
    this.#directory.writeAll(this.#opened, Buffer.from(`{"applied":${record.seq}}\n`), end)
    this.#read(true)
  }

  /** Whether the segment is long enough for a new one. */
  get needsRotation(): boolean {
    return this.#records >= maxRecords || this.#position >= maxBytes
  }

  /** Ends the segment, under the lock and with nothing left to apply, and removes old segments. */
  rotate(): void {
    const before = this.#name
    this.#openSegment(this.#make(this.#seq + 1))
    this.#read(true)
    for (const name of this.#segments()) if (name < before) this.#directory.remove(`journal/${name}`)
    this.#directory.syncFolders()
  }

  close(): void {
    if (this.#file !== undefined) this.#directory.disk.close(this.#file)
    this.#file = undefined
  }

  get #opened(): number {
    if (this.#file === undefined)
      throw new RotaError('STORE_CLOSED', `${this.#url} was used after it was closed`)
    return this.#file
  }

  #segments(): string[] {
    return this.#directory
      .list('journal')
      .filter((name) => name.endsWith('.jsonl'))
      .toSorted()
  }

  #make(begins: number): string {
    const name = `${String(begins).padStart(12, '0')}.jsonl`
    const line: Line = { begins, counters: this.#counters }
    this.#directory.replace(`journal/${name}`, `${JSON.stringify(line)}\n`)
    this.#directory.syncFolders()
    return name
  }

  #openSegment(name: string): void {
    const file = this.#directory.disk.open(this.#directory.of(`journal/${name}`), 'r+')
    this.close()
    this.#file = file
    this.#name = name
    this.#position = 0
    this.#lines = 0
    this.#records = 0
  }

  #tryOpenSegment(name: string): boolean {
    try {
      this.#openSegment(name)
      return true
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return false
      throw error
    }
  }

  /** Reads new lines; without the lock only transactions that are in the files as well. */
  #read(isLocked: boolean): { taken: JournalRecord[]; unapplied: JournalRecord | undefined } {
    const taken: JournalRecord[] = []
    const { disk } = this.#directory
    const base = this.#position
    if (disk.size(this.#opened) <= base) return { taken, unapplied: undefined }
    const data = disk.readFrom(this.#opened, base)
    let unapplied: JournalRecord | undefined
    for (let start = 0; start < data.length; ) {
      const end = data.indexOf(10, start)
      const line = end === -1 ? undefined : parseLine(data.toString('utf8', start, end))
      if (line === undefined) {
        // Without the lock this may be a line that another process is writing right now.
        if (!isLocked) break
        if (end !== -1 && end < data.length - 1) throw this.#damage()
        // Never committed: its writer died before the line was durable.
        disk.truncate(this.#opened, base + start)
        break
      }
      start = end + 1
      if ('changes' in line) {
        unapplied = line
        continue
      }
      if ('begins' in line) this.#note(line.begins - 1, line.counters)
      else if (unapplied !== undefined) {
        taken.push(unapplied)
        this.#records++
        this.#note(unapplied.seq, unapplied.counters)
      }
      unapplied = undefined
      this.#lines++
      this.#position = base + start
    }
    return { taken, unapplied: isLocked ? unapplied : undefined }
  }

  #note(seq: number, counters: Counters): void {
    this.#seq = seq
    this.#counters = counters
  }

  #damage(): RotaError {
    const place = `journal/${this.#name}, after line ${this.#lines + this.#records}`
    return new RotaError('STORE_CORRUPT', `${this.#url}: ${place}: a line is not valid JSON`)
  }
}

function parseLine(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line
  } catch {
    return undefined
  }
}
