import { chmod, lstat, mkdir, open, readFile, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { BigIntStats } from 'node:fs'
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
    try {
      return await lock.holdThroughout(act)
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
    const found = await this.#look()
    if (found === undefined) return { lines: [], version: versionOf(found), modifiedAt: undefined }
    if (found.size > BigInt(largestFile)) {
      throw this.#trouble(`${found.size} bytes are too many (allowed: at most ${largestFile})`)
    }
    const bytes = await this.#guarded('read', () => readFile(this.path))
    const lines = await readJobLines(bytes, { unknown: 'refuse' })
    return { lines, version: versionOf(found), modifiedAt: Number(found.mtimeMs) }
  }

  /** Adds lines behind those that are there; a last line that was not ended becomes one of its own. */
  async append(texts: readonly string[]): Promise<void> {
    await this.#guarded('written', async () => {
      const isNew = (await this.#look()) === undefined
      const file = await open(this.path, 'a+', 0o600)
      try {
        const begin = (await isEnded(file)) ? '' : '\n'
        await file.appendFile(begin + texts.map((text) => `${text}\n`).join(''))
        await file.sync()
      } finally {
        await file.close()
      }
      if (isNew) await syncFolder(dirname(this.path))
    })
  }

  /** Writes the file whole, unless somebody else has written it since it was read: whoever looks sees the old one or the new one. */
  async replace(lines: readonly Buffer[], since: JobsText): Promise<'replaced' | 'stale'> {
    return await this.#guarded('written', async () => {
      const found = await this.#look()
      const temporary = `${this.path}.tmp`
      await writeWhole(temporary, Buffer.concat(lines))
      if (found !== undefined) await chmod(temporary, Number(found.mode) & 0o777)
      if ((await this.version()) !== since.version) {
        await rm(temporary)
        return 'stale'
      }
      await rename(temporary, this.path)
      await syncFolder(dirname(this.path))
      return 'replaced'
    })
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

const largestFile = 67_108_864
const longestQuote = 4096

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
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

async function isEnded(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat()
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
