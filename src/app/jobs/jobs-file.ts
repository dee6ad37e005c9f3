import { chmod, chown, lstat, mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { BigIntStats } from 'node:fs'
import { readUserFile } from '../../input/user-file.js'
import { RotaError } from '../../model/errors.js'
import { readJobLines, type JobLine } from '../../plan/job-lines.js'
import { DirectoryLock } from '../../store/files/lock.js'
import type { Clock } from '../../time/clock.js'
import type { Instant } from '../../time/instant.js'

/** A jobs file as it was read. */
export interface JobsText {
  readonly lines: readonly JobLine[]
  /** Differs whenever somebody has written the file since. */
  readonly version: string
  /** When it was last written; absent where there is no file. */
  readonly modifiedAt: Instant | undefined
}

/** A file of jobs, one a line, that other programs read and write too. Every change of it is durable when it resolves. */
export class JobsFile {
  readonly path: string
  readonly #clock: Clock

  constructor(path: string, clock: Clock) {
    this.path = path
    this.#clock = clock
  }

  /** Does something while no other Rota changes the file. */
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
      // The lock may be a file of another program: that is no reason to stop everything, as a broken store is.
      throw this.#trouble(`it cannot be locked: ${(error.cause as Error).message}`, error)
    } finally {
      lock.close()
    }
  }

  /** Differs whenever somebody has written the file since. */
  async version(): Promise<string> {
    return versionOf(await this.#look())
  }

  /** Its lines; a file that is not there has none. */
  async read(): Promise<JobsText> {
    for (let i = 0; i < tries; i++) {
      const found = await this.#look()
      if (found === undefined) return { lines: [], version: '', modifiedAt: undefined }
      this.#assertReadable(found.size)
      const text = await readUserFile(this.path, largestFile)
      const version = versionOf(found)
      // What was read while somebody wrote it says nothing: it may be the beginning of a file, or empty.
      if (text.kind === 'absent' || (await this.version()) !== version) continue
      if (text.kind !== 'read') throw this.#trouble(`it cannot be read: ${text.why}`)
      const lines = await readJobLines(text.bytes, { unknown: 'refuse', path: this.path })
      return { lines, version, modifiedAt: Number(found.mtimeMs) }
    }
    throw this.#trouble('it kept changing while it was read')
  }

  /** Adds lines behind those that are there; a last line that was not ended becomes one of its own. */
  async append(texts: readonly string[]): Promise<void> {
    await this.#guarded('written', async () => {
      const found = await this.#look()
      const bytes = linesOf(texts)
      this.#assertReadable((found?.size ?? 0n) + BigInt(bytes.length))
      await this.#append(bytes)
      if (found === undefined) await syncFolder(dirname(this.path))
    })
  }

  async #append(bytes: Buffer): Promise<void> {
    const file = await open(this.path, 'a+', 0o600)
    try {
      const { size } = await file.stat()
      const begin = (await isEnded(file, size)) ? [] : [Buffer.from('\n')]
      await appendWhole(file, size, Buffer.concat([...begin, bytes]))
    } finally {
      await file.close()
    }
  }

  /** Writes a file that is not there: all of it, or nothing. */
  async create(texts: readonly string[]): Promise<void> {
    await this.#guarded('written', async () => {
      const temporary = `${this.path}.tmp`
      await writeWhole(temporary, linesOf(texts))
      if ((await this.#look()) === undefined) await rename(temporary, this.path)
      else await rm(temporary)
      await syncFolder(dirname(this.path))
    })
  }

  /** Writes the file whole, unless somebody else has written it since it was read: whoever looks sees the old one or the new one. */
  async replace(lines: readonly Buffer[], since: JobsText): Promise<'replaced' | 'stale'> {
    return await this.#guarded('written', async () => {
      const temporary = `${this.path}.tmp`
      const before = await open(this.path, 'r')
      try {
        await writeWhole(temporary, Buffer.concat(lines))
        await likeBefore(temporary, before)
        if ((await this.version()) !== since.version) {
          await rm(temporary)
          return 'stale'
        }
        await rename(temporary, this.path)
        await this.#carryOver(before, since)
      } finally {
        await before.close()
      }
      await syncFolder(dirname(this.path))
      return 'replaced'
    })
  }

  /** What somebody appended between the last comparison and the replacement is in the old file only. */
  async #carryOver(before: FileHandle, since: JobsText): Promise<void> {
    const known = since.lines.reduce((sum, { bytes }) => sum + bytes.length, 0)
    const { size } = await before.stat()
    if (size <= known) return
    const { buffer, bytesRead } = await before.read(Buffer.alloc(size - known), 0, size - known, known)
    await this.#append(buffer.subarray(0, bytesRead))
  }

  /** Writes which lines are set aside, and why, beside the file; they stay in it as they are. */
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
    const what = found.isSymbolicLink() ? 'a symbolic link; name the file itself' : 'no file'
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
      const { code, message } = error as NodeJS.ErrnoException
      throw this.#trouble(`it cannot be ${what}: ${reasons[code ?? ''] ?? message}`, error)
    }
  }

  #trouble(why: string, cause?: unknown): RotaError {
    return new RotaError('JOBS_INVALID', `${this.path}: ${why}`, { cause })
  }
}

/** The most bytes of a jobs file that are read. */
export const largestFile = 67_108_864
const tries = 20
const longestQuote = 4096

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not',
  EPERM: 'this user may not',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  ENOTDIR: 'part of its path is not a directory',
  EEXIST: 'part of its path is not a directory',
}

function versionOf(found: BigIntStats | undefined): string {
  return found === undefined ? '' : `${found.ino}:${found.size}:${found.mtimeNs}`
}

/** For its owner alone. It must not be opened once it exists: closing it would free a lock that this process holds. */
async function makeLockFile(path: string): Promise<void> {
  if ((await unlessAbsent(lstat(path))) !== undefined) return
  try {
    await (await open(path, 'wx', 0o600)).close()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function linesOf(texts: readonly string[]): Buffer {
  return Buffer.from(texts.map((text) => `${text}\n`).join(''))
}

/** Appends bytes, or nothing where the disk is full in the middle of them: half of a line, or half of the lines, would stay as if somebody had meant it. */
async function appendWhole(file: FileHandle, size: number, bytes: Buffer): Promise<void> {
  try {
    await file.appendFile(bytes)
    await file.sync()
  } catch (error) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes.length + 1), 0, bytes.length + 1, size)
    const isOwn = bytes.subarray(0, bytesRead).equals(buffer.subarray(0, bytesRead))
    if (isOwn) await file.truncate(size)
    throw error
  }
}

async function isEnded(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return true
  const last = await file.read(Buffer.alloc(1), 0, 1, size - 1)
  return last.buffer[0] === 0x0a
}

async function writeWhole(path: string, bytes: Buffer): Promise<void> {
  // What a killed process left behind, or what somebody put there, is not written through.
  await rm(path, { force: true })
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Whoever could read and write a file still can: a file that could not be given back to its owner is not replaced. */
async function likeBefore(path: string, before: FileHandle): Promise<void> {
  const { mode, uid, gid } = await before.stat()
  const own = await stat(path)
  if (own.uid !== uid || own.gid !== gid) await chown(path, uid, gid)
  await chmod(path, mode & 0o777)
}

async function syncFolder(path: string): Promise<void> {
  // Windows has no such call, and writes names down by itself.
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function unlessAbsent<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
