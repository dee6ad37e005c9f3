import { appendFileSync, fstatSync, lstatSync, renameSync, type BigIntStats } from 'node:fs'
import { lstat, mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { readUserFile, readUserFileSync } from '../../formats/user-file.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { isTorn, longestLine, readJobLines, type JobLine } from './lines.js'
import { DirectoryLock } from '../../store/files/lock.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'
import {
  appendWhole,
  asRead,
  isBehindLine,
  isEnded,
  isWhole,
  joinedAt,
  lastLine,
  linesOf,
  likeBefore,
  makeLockFile,
  newline,
  separated,
  syncFile,
  syncFolder,
  tailOf,
  type ReadText,
  unlessAbsent,
  versionOf,
  writeWhole,
} from './durable-file.js'

/** A jobs file as it was read. */
export interface JobsText {
  readonly lines: readonly JobLine[]
  /** Differs whenever somebody has written the file since. */
  readonly version: string
  /** When it was last written; undefined if there is no file. */
  readonly modifiedAt: Instant | undefined
}

/** A file of jobs, one per line, that other programs read and write too. A change is durable when its promise resolves. */
export class JobsFile {
  readonly path: string
  readonly #clock: Clock

  constructor(path: string, clock: Clock) {
    this.path = path
    this.#clock = clock
  }

  /** Calls a function while no other Rota process changes the file. */
  async hold<T>(act: () => Promise<T>): Promise<T> {
    await this.#guarded('made', () => mkdir(dirname(this.path), { recursive: true, mode: 0o700 }))
    const lock = await this.#guarded('locked', async () => {
      await makeLockFile(`${this.path}.lock`)
      return new DirectoryLock({ path: `${this.path}.lock`, clock: this.#clock, url: this.path })
    })
    let isHeld = false
    try {
      return await lock.holdThroughout(async () => {
        isHeld = true
        return await act()
      })
    } catch (error) {
      if (isHeld || !(error instanceof RotaError) || error.code !== 'STORE_IO') throw error
      // The lock may be a file of another program: unlike a broken store, this is no reason to stop everything.
      throw this.#trouble(`it cannot be locked: ${(error.cause as Error).message}`, error)
    } finally {
      lock.close()
    }
  }

  /** Differs whenever somebody has written the file since. */
  async version(): Promise<string> {
    return versionOf(await this.#look())
  }

  /** Its lines; none if the file does not exist. */
  async read(): Promise<JobsText> {
    return await this.#patiently('it kept changing while it was read', async () => {
      const found = await this.#look()
      if (found === undefined) return { lines: [], version: '', modifiedAt: undefined }
      this.#assertReadable(found.size)
      const read = found.size <= smallFile ? this.#readAtOnce() : await this.#readInPieces()
      // A file that changed while it was read may be incomplete or empty.
      if (read === undefined || read.text.kind === 'absent') return undefined
      const { text, version, modifiedAt } = read
      if (text.kind !== 'read') throw this.#trouble(`it cannot be read: ${text.why}`)
      const lines = await readJobLines(text.bytes, { unknown: 'refuse', path: this.path })
      return { lines, version, modifiedAt }
    })
  }

  /** Its lines, as soon as the last one is complete. */
  async readComplete(): Promise<JobsText> {
    return await this.#patiently(beingWritten, async () => {
      const text = await this.read()
      return isTorn(text.lines) && this.#isRecent(text.modifiedAt) ? undefined : text
    })
  }

  /** Synchronous and short, so that other programs rarely write meanwhile. */
  #readAtOnce(): ReadText | undefined {
    const before = lstatSync(this.path, { bigint: true, throwIfNoEntry: false })
    const text = readUserFileSync(this.path, largestFile)
    return asRead(before, text, lstatSync(this.path, { bigint: true, throwIfNoEntry: false }))
  }

  async #readInPieces(): Promise<ReadText | undefined> {
    const before = await this.#look()
    const text = await readUserFile(this.path, largestFile)
    return asRead(before, text, await this.#look())
  }

  /** Appends lines, as soon as the last line is complete. */
  async append(texts: readonly string[]): Promise<void> {
    await this.#guarded('written', async () => {
      const found = await this.#look()
      const bytes = linesOf(texts)
      this.#assertReadable((found?.size ?? 0n) + BigInt(bytes.length))
      await this.#append(bytes)
      if (found === undefined) await syncFolder(dirname(this.path))
    })
  }

  /** Removes the lines that were appended last, if nobody has written since. Needs no disk space. */
  async restoreLines(texts: readonly string[]): Promise<void> {
    await this.#guarded('written', async () => {
      const bytes = linesOf(texts)
      const file = await open(this.path, 'r+')
      try {
        const start = (await file.stat()).size - bytes.length
        const { buffer } = await file.read(Buffer.alloc(bytes.length), 0, bytes.length, Math.max(start, 0))
        if (start >= 0 && buffer.equals(bytes)) await file.truncate(start)
        await file.sync()
      } finally {
        await file.close()
      }
    })
  }

  async #append(bytes: Buffer): Promise<void> {
    const answer = await this.#patiently(beingWritten, async () => {
      // Opened for each try: another program may have replaced the file.
      const file = await open(this.path, 'a+', 0o600)
      try {
        return await this.#appendTo(file, bytes)
      } finally {
        await file.close()
      }
    })
    if (answer === 'inside') await this.#separate(bytes)
  }

  /** Checks and writes without an await in between, because another program may begin a line then. Returns `inside` if one did so anyway. */
  async #appendTo(file: FileHandle, bytes: Buffer): Promise<'behind' | 'inside' | undefined> {
    const { size, mtimeMs } = fstatSync(file.fd)
    const last = lastLine(file, size)
    const isBegun = last.length > 0
    if (isBegun && !isWhole(last) && this.#isRecent(mtimeMs)) return undefined
    await appendWhole(file, size, isBegun ? Buffer.concat([Buffer.from('\n'), bytes]) : bytes)
    if (isBegun) return 'behind'
    return isBehindLine(tailOf(file, fstatSync(file.fd).size, longestLine), bytes) ? 'behind' : 'inside'
  }

  /** Another program began a line just before ours was written: when that line is complete, its two parts are joined. */
  async #separate(own: Buffer): Promise<void> {
    await this.#patiently(beingWritten, async () => {
      const read = this.#readAtOnce()
      if (read?.text.kind !== 'read') return undefined
      const apart = separated(read.text.bytes, own)
      if (apart === 'apart') return true
      if (apart === 'begun') return undefined
      const answer = await this.#replace([apart], read.text.bytes.length, this.#ifStill(read.version))
      return answer === 'replaced' ? true : undefined
    })
  }

  /** Whether somebody may still be writing a file with this time. A time far ahead of the clock does not count as recent. */
  #isRecent(modifiedAt: Instant | undefined): boolean {
    return modifiedAt !== undefined && Math.abs(this.#clock.now() - modifiedAt) < writingMs
  }

  /** Tries again for some seconds while others write. */
  async #patiently<T>(why: string, attempt: () => Promise<T | undefined>, mostMs = patienceMs): Promise<T> {
    const endMs = this.#clock.monotonicMs() + mostMs
    for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const answer = await attempt()
      if (answer !== undefined) return answer
      if (this.#clock.monotonicMs() >= endMs) throw this.#trouble(why)
      await this.#clock.sleep(pauseMs)
    }
  }

  /** Writes a missing file, completely or not at all. */
  async create(texts: readonly string[]): Promise<void> {
    await this.#guarded('written', async () => {
      const temporary = `${this.path}.tmp`
      await writeWhole(temporary, linesOf(texts))
      if ((await this.#look()) === undefined) await rename(temporary, this.path)
      else await rm(temporary)
      await syncFolder(dirname(this.path))
    })
  }

  /** Removes lines. Lines that others append meanwhile are kept; after any other change it starts again. */
  async rewrite(change: (lines: readonly JobLine[]) => readonly JobLine[]): Promise<void> {
    await this.#patiently('it kept changing while lines were removed from it', async () => {
      const text = await this.readComplete()
      const kept = change(text.lines)
      if (kept.length === text.lines.length) return 'unchanged'
      const bytes = kept.map((line) => line.bytes)
      const answer = await this.#replace(bytes, sizeOf(text), () => this.#addedSince(text))
      return answer === 'replaced' ? 'changed' : undefined
    })
  }

  /** Replaces the file, unless it changed since it was read. Readers see the old file or the new one. */
  async replace(lines: readonly Buffer[], since: JobsText): Promise<'replaced' | 'stale'> {
    return await this.#replace(lines, sizeOf(since), this.#ifStill(since.version))
  }

  async #replace(
    lines: readonly Buffer[],
    size: number,
    addedSince: () => Buffer | undefined,
  ): Promise<'replaced' | 'stale'> {
    return await this.#guarded('written', async () => {
      const temporary = `${this.path}.tmp`
      const before = await open(this.path, 'r')
      try {
        await writeWhole(temporary, Buffer.concat(lines))
        await likeBefore(temporary, before)
        const added = this.#swap(temporary, addedSince)
        if (added === undefined) {
          await rm(temporary)
          return 'stale'
        }
        const newSize = lines.reduce((sum, line) => sum + line.length, 0) + added.length
        if (added.length > 0) await syncFile(this.path)
        await syncFolder(dirname(this.path))
        // Last, so that a program that had just opened the old file has time to write to it.
        await this.#carryOver(before, { known: size + added.length, newSize })
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      } finally {
        await before.close()
      }
      return 'replaced'
    })
  }

  /** Replaces the old file, including what was appended to it. Synchronous, because others may write during an await. */
  #swap(temporary: string, addedSince: () => Buffer | undefined): Buffer | undefined {
    const added = addedSince()
    if (added === undefined) return undefined
    if (added.length > 0) appendFileSync(temporary, added)
    renameSync(temporary, this.path)
    return added
  }

  /** The lines that were appended since the file was read; undefined after any other change, or if a line is incomplete. */
  #addedSince(since: JobsText): Buffer | undefined {
    if (this.#versionNow() === since.version) return Buffer.alloc(0)
    const text = readUserFileSync(this.path, largestFile)
    if (text.kind !== 'read') return undefined
    const known = Buffer.concat(since.lines.map(({ bytes }) => bytes))
    const added = text.bytes.subarray(known.length)
    const isAppended = text.bytes.subarray(0, known.length).equals(known) && isEnded(known) && isEnded(added)
    return isAppended ? added : undefined
  }

  /** Empty if the file is unchanged; undefined otherwise. */
  #ifStill(version: string): () => Buffer | undefined {
    return () => (this.#versionNow() === version ? Buffer.alloc(0) : undefined)
  }

  #versionNow(): string {
    return versionOf(lstatSync(this.path, { bigint: true, throwIfNoEntry: false }))
  }

  /** Copies what was appended to the old file between the last comparison and the replacement. The rest of such a line may be in either file. */
  async #carryOver(
    before: FileHandle,
    { known, newSize }: { readonly known: number; readonly newSize: number },
  ): Promise<void> {
    let added = Buffer.alloc(0)
    const look = async (): Promise<'behind' | 'joined' | undefined> => {
      const { size } = await before.stat()
      const length = Math.max(size - known, 0)
      added = (await before.read(Buffer.alloc(length), 0, length, known)).buffer
      if (isEnded(added) || isWhole(added.subarray(added.lastIndexOf(newline) + 1))) return 'behind'
      return (await this.#join(added, newSize)) ? 'joined' : undefined
    }
    const answer = await this.#patiently('', look, carryMs).catch(() => 'behind')
    if (answer === 'behind' && added.length > 0) await this.#append(added)
  }

  /** Inserts the beginning of a line before its rest, if the rest is already in the file. */
  async #join(begun: Buffer, at: number): Promise<boolean> {
    const read = this.#readAtOnce()
    if (read?.text.kind !== 'read') return false
    const joined = joinedAt(read.text.bytes, begun, at)
    if (joined === undefined) return false
    return (await this.#replace([joined], read.text.bytes.length, this.#ifStill(read.version))) === 'replaced'
  }

  /** Lists the quarantined lines and their faults in a separate file; the lines themselves stay unchanged. */
  async quarantine(lines: readonly JobLine[]): Promise<void> {
    const path = `${this.path}.quarantine`
    await this.#guarded('written', async () => {
      const faulty = lines.flatMap((one) => (one.kind === 'faulty' ? [one] : []))
      if (faulty.length === 0) return await rm(path, { force: true })
      const texts = faulty.map(({ line, faults, bytes }) =>
        JSON.stringify({ line, faults, text: bytes.toString('utf8', 0, longestQuote) }),
      )
      await writeWhole(`${path}.tmp`, Buffer.from(`${texts.join('\n')}\n`))
      await rename(`${path}.tmp`, path)
    })
  }

  async #look(): Promise<BigIntStats | undefined> {
    const found = await this.#guarded('read', () => unlessAbsent(lstat(this.path, { bigint: true })))
    if (found === undefined || found.isFile()) return found
    const what = found.isSymbolicLink() ? 'a symbolic link; name the file itself' : 'not a file'
    throw this.#trouble(`it is ${what}`)
  }

  #assertReadable(size: bigint): void {
    if (size <= BigInt(largestFile)) return
    throw this.#trouble(`${size} bytes are too many (allowed: at most ${largestFile})`)
  }

  async #guarded<T>(what: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      if (error instanceof RotaError) throw error
      const { code = '', message } = error as NodeJS.ErrnoException
      if (fullCodes.has(code)) throw this.#full(what, error)
      throw this.#trouble(`it cannot be ${what}: ${reasons[code] ?? message}`, error)
    }
  }

  #full(what: string, cause: unknown): RotaError {
    const message = `${this.path}: it cannot be ${what}: the disk is full; nothing was changed`
    return new RotaError('STORE_FULL', message, { cause })
  }

  #trouble(why: string, cause?: unknown): RotaError {
    return new RotaError('JOBS_INVALID', `${this.path}: ${why}`, { cause })
  }
}

/** The maximum size of a jobs file in bytes. */
export const largestFile = 67_108_864
/** Files up to this size are read synchronously. */
const smallFile = 1_048_576
const longestQuote = 4096

/** For this long, a last line without a line feed may still be incomplete. */
export const writingMs = 60_000

/** How long to wait for other programs that write the file. */
const patienceMs = 10_000
const longestPauseMs = 50
/** How long to wait for the end of a line in a replaced file. */
const carryMs = 1000

const beingWritten =
  'its last line is not complete, and another program may be writing it; try again in a minute'

const fullCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT'])

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'the disk is read-only',
  ENOTDIR: 'part of its path is not a directory',
  EEXIST: 'part of its path is not a directory',
}

function sizeOf({ lines }: JobsText): number {
  return lines.reduce((sum, { bytes }) => sum + bytes.length, 0)
}
