import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

/** The progress of a store. */
export interface Progress {
  readonly epoch: number
  /** The number of a commit, if the store counts them; it wraps at 32 bits. */
  readonly commit?: number | undefined
}

/** The content of a witness file. */
export interface Seen extends Progress {
  /** Whether the store keeps all of it after a power loss. */
  readonly isDurable: boolean
  /** The boot id of the machine; empty if unknown. */
  readonly boot: string
  /** The progress that survives a power loss in any case. */
  readonly settled: Progress
}

/** The store of a witness file: its id and its location, since a store may be copied. */
export interface Subject {
  readonly id: string
  readonly place: string
}

/** A size that is sufficient for every content, and that the system writes atomically. */
const fileSize = 256

const commitAt = '{"commit":'.length
const commitSize = '-2147483648'.length

/**
 * A small file that is overwritten with every commit: no fsync and no rename. The writes of a killed process are kept;
 * a power loss may undo the last writes, and a witness that is behind does no harm.
 */
export class WitnessFile {
  readonly #path: string
  readonly #buffer = Buffer.alloc(fileSize, ' ')
  #file: number | undefined
  #isClosed = false
  #trouble: string | undefined

  constructor(subject: Subject) {
    this.#path = pathOf(subject)
  }

  write(seen: Seen): void {
    const { commit, ...others } = seen
    const text = JSON.stringify({ commit: 0, ...others })
    this.#buffer.fill(' ')
    this.#buffer.write(`{"commit":${' '.repeat(commitSize)}${text.slice(commitAt + 1)}`, 'latin1')
    this.writeCommit(commit)
  }

  /** Writes the same content with another commit. */
  writeCommit(commit: number | undefined): void {
    this.#buffer.write(String(commit ?? null).padStart(commitSize), commitAt, 'latin1')
    if (this.#isClosed) return
    try {
      this.#file ??= openFile(this.#path)
      writeSync(this.#file, this.#buffer, 0, fileSize, 0)
      this.#trouble = undefined
    } catch (error) {
      // A witness that cannot be written does no harm. The next commit tries again.
      this.#trouble = (error as Error).message
    }
  }

  /** Why the last write failed. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
    this.#isClosed = true
  }
}

/** What this host has seen of a store: at this location, otherwise at any. */
export function readSeen(subject: Subject): readonly Seen[] {
  const own = read(pathOf(subject))
  if (own !== undefined) return [own]
  const directory = directoryOf(subject.id)
  return list(directory).flatMap((name) => read(join(directory, name)) ?? [])
}

/** Whether this host has seen any store at a location. */
export function wasSeenAt(place: string): boolean {
  const root = stateDirectory()
  const name = nameOf(place)
  return list(root).some((store) => read(join(root, store, name)) !== undefined)
}

/** The boot id of this machine. */
export function bootOfMachine(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}

function openFile(path: string): number {
  // The home of an account may not exist, and must not be created.
  if (namedState() === undefined && !existsSync(homedir())) throw new Error(`${homedir()} does not exist`)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  try {
    return openSync(path, 'r+')
  } catch {
    return openSync(path, 'w', 0o600)
  }
}

function read(path: string): Seen | undefined {
  try {
    const seen = JSON.parse(readFileSync(path, 'utf8')) as Seen & { commit: number | null }
    const { epoch, settled } = seen
    if (typeof epoch !== 'number' || typeof settled.epoch !== 'number') return undefined
    return { ...seen, commit: seen.commit ?? undefined }
  } catch {
    return undefined
  }
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function pathOf({ id, place }: Subject): string {
  return join(directoryOf(id), nameOf(place))
}

// The id was read from a file that anybody may have written.
function directoryOf(id: string): string {
  return join(stateDirectory(), `store-${encodeURIComponent(id)}`)
}

function nameOf(place: string): string {
  return `${createHash('sha256').update(place).digest('hex').slice(0, 16)}.json`
}

function stateDirectory(): string {
  return join(namedState() ?? join(homedir(), '.local', 'state'), 'rota')
}

function namedState(): string | undefined {
  const named = process.env['XDG_STATE_HOME'] ?? ''
  return isAbsolute(named) ? named : undefined
}
