/**
 * The journal: one line for each transaction, written and made durable before any other file is touched, and a line
 * after it once the files say the same. At most its last transaction can be without that second line; whoever takes
 * the lock next applies it again. It is kept in segments, so that other processes read what they have missed; the one
 * before the newest stays, older ones go, and who has missed more than that loads the store anew.
 */
import { RotaError } from '../../kernel/definition/errors.js'
import { codeOf } from './disk.js'
import type { Directory } from './layout/directory.js'
import type { Counters, JournalRecord } from './layout/record.js'

/** A segment is ended after so many transactions, or bytes. */
const maxRecords = 1000
const maxBytes = 8 * 1024 * 1024

type Line =
  | { readonly begins: number; readonly counters: Counters }
  | { readonly applied: number }
  | JournalRecord

/** What others have committed since the last look. */
export interface News {
  readonly records: readonly JournalRecord[]
  /** One that is committed and not, or not wholly, in the files; only told to who holds the lock. */
  readonly unapplied: JournalRecord | undefined
  /** Whether more was missed than the journal still has. */
  readonly isBehind: boolean
}

/** The journal of a directory, as one process reads and writes it. */
export class Journal {
  readonly #directory: Directory
  readonly #url: string
  readonly #isDurable: boolean
  #file: number | undefined
  #name = ''
  /** Up to where its lines were taken in. */
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

  /** The number of the last transaction that was taken in. */
  get seq(): number {
    return this.#seq
  }

  /** The numbers of the store after it. */
  get counters(): Counters {
    return this.#counters
  }

  /** Begins with the newest segment, under the lock; answers what is left to apply. */
  open(): JournalRecord | undefined {
    const newest = this.#segments().at(-1) ?? this.#make(1)
    this.#turnTo(newest)
    return this.#read(true).unapplied
  }

  /** What has come since the last look. */
  news(isLocked: boolean): News {
    const records: JournalRecord[] = []
    for (;;) {
      const { taken, unapplied } = this.#read(isLocked)
      records.push(...taken)
      const next = this.#segments().find((name) => name > this.#name)
      if (next === undefined) return { records, unapplied, isBehind: false }
      if (Number.parseInt(next, 10) !== this.#seq + 1 || !this.#tryTurnTo(next))
        return { records: [], unapplied: undefined, isBehind: true }
    }
  }

  /** Commits a transaction, under the lock: once this returns it will be there, whatever happens. */
  commit(record: JournalRecord): void {
    const data = Buffer.from(`${JSON.stringify(record)}\n`)
    try {
      this.#write(data, this.#position)
      if (this.#isDurable) this.#directory.disk.sync(this.#opened)
    } catch (error) {
      // What is there of it must not be taken for a transaction by whoever looks next.
      this.#directory.disk.truncate(this.#opened, this.#position)
      throw error
    }
  }

  /** Notes that the files say what a committed transaction says. Need not be durable: it would only be applied again. */
  settle(record: JournalRecord): void {
    this.#write(Buffer.from(`{"applied":${record.seq}}\n`), this.#directory.disk.size(this.#opened))
    this.#read(true)
  }

  /** Whether it is time for a new segment. */
  get isLong(): boolean {
    return this.#records >= maxRecords || this.#position >= maxBytes
  }

  /** Ends the segment, under the lock and with nothing left to apply, and removes those that are too old. */
  turn(): void {
    const before = this.#name
    this.#turnTo(this.#make(this.#seq + 1))
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

  #turnTo(name: string): void {
    const file = this.#directory.disk.open(this.#directory.of(`journal/${name}`), 'r+')
    this.close()
    this.#file = file
    this.#name = name
    this.#position = 0
    this.#lines = 0
    this.#records = 0
  }

  #tryTurnTo(name: string): boolean {
    try {
      this.#turnTo(name)
      return true
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return false
      throw error
    }
  }

  /** Takes in the lines that have come; without the lock only those whose transaction is in the files as well. */
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
        // Without the lock it may be what another process is writing at this moment.
        if (!isLocked) break
        if (end !== -1 && end < data.length - 1) throw this.#damage()
        // It was never committed: its writer died before it was durable.
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

  #write(data: Uint8Array, position: number): void {
    let written = 0
    while (written < data.length) {
      written += this.#directory.disk.write(this.#opened, data.subarray(written), position + written)
    }
  }

  #damage(): RotaError {
    const place = `journal/${this.#name}, after line ${this.#lines + this.#records}`
    return new RotaError('STORE_CORRUPT', `${this.#url}: ${place}: a line is not what was written there`)
  }
}

function parseLine(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line
  } catch {
    return undefined
  }
}
