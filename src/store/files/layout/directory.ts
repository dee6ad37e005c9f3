import { join } from 'node:path'
import { queueFolders } from '../../../formats/queue-file.js'
import { codeOf, type Disk } from '../disk.js'

/** The other folders of a store. */
const otherFolders = ['triggers', 'workers', 'beats', 'logs', 'journal', 'quarantine', 'tmp'] as const

const folders = ['', ...queueFolders, ...otherFolders]

/** Files in these folders need not survive a power loss. */
const volatileFolders: ReadonlySet<string> = new Set(['tmp', 'beats'])

/** Windows has no such call, and persists names itself. */
const canSyncFolders = process.platform !== 'win32'

/** A directory on a disk, with the operations of a store. */
export class Directory {
  readonly path: string
  readonly disk: Disk
  readonly #isDurable: boolean
  readonly #unsynced = new Set<string>()

  constructor(options: { path: string; disk: Disk; isDurable: boolean }) {
    this.path = options.path
    this.disk = options.disk
    this.#isDurable = options.isDurable
  }

  /** Creates the missing folders of a store. */
  make(): void {
    for (const folder of folders) {
      if (this.disk.lstat(this.of(folder)) !== undefined) continue
      this.disk.makeDirectory(this.of(folder))
      this.#unsynced.add(folder === '' ? '..' : '.')
    }
  }

  /** Why the directory must not be used: a link could lead elsewhere, and another user could change its content. */
  get refusal(): string | undefined {
    const user = process.getuid?.()
    for (const folder of folders) {
      const found = this.disk.lstat(this.of(folder))
      if (found === undefined) continue
      if (found.isSymbolicLink()) return `${this.of(folder)} is a symbolic link; name the directory itself`
      if (!found.isDirectory()) return `${this.of(folder)} is not a directory`
      if (user !== undefined && found.uid !== user) return `${this.of(folder)} belongs to another user`
    }
    return undefined
  }

  /** The full path of a file of the store. */
  of(name: string): string {
    return join(this.path, name)
  }

  exists(name: string): boolean {
    return this.disk.lstat(this.of(name)) !== undefined
  }

  text(name: string): string | undefined {
    return this.disk.read(this.of(name))?.toString('utf8')
  }

  list(folder: string): string[] {
    return this.disk.list(this.of(folder))
  }

  sizeOf(name: string): number {
    return this.disk.lstat(this.of(name))?.size ?? 0
  }

  /** Replaces a file atomically: a reader sees the old one or the new one. */
  replace(name: string, text: string): void {
    const temporary = join('tmp', name.replaceAll('/', '+'))
    this.#write(temporary, 'w', (file) => this.writeAll(file, Buffer.from(text), 0))
    this.move(temporary, name)
  }

  /** Replaces a file that need not survive a power loss, atomically and without the lock; it must have only one writer. */
  replaceVolatile(name: string, text: string): void {
    const temporary = `${name}.new`
    const file = this.disk.open(this.of(temporary), 'w')
    this.#closing(file, () => this.writeAll(file, Buffer.from(text), 0))
    this.disk.rename(this.of(temporary), this.of(name))
  }

  move(from: string, to: string): void {
    this.disk.rename(this.of(from), this.of(to))
    this.#unsynced.add(folderOf(from)).add(folderOf(to))
  }

  remove(name: string): void {
    if (!this.exists(name)) return
    this.disk.remove(this.of(name))
    this.#unsynced.add(folderOf(name))
  }

  /** Writes a text at a position and truncates the file after it; may be repeated. */
  append(name: string, at: number, text: string): void {
    if (!this.exists(name)) this.#unsynced.add(folderOf(name))
    this.#write(name, this.exists(name) ? 'r+' : 'w+', (file) => {
      const size = this.disk.size(file)
      if (size > at) this.disk.truncate(file, at)
      this.writeAll(file, Buffer.from(text), Math.min(size, at))
    })
  }

  /** Writes all data to an open file, however many calls that takes. */
  writeAll(file: number, data: Uint8Array, position: number): void {
    let written = 0
    while (written < data.length) written += this.disk.write(file, data.subarray(written), position + written)
  }

  /** Truncates a file at a position. */
  cut(name: string, at: number): void {
    this.#write(name, 'r+', (file) => this.disk.truncate(file, at))
  }

  /** Makes moved, created and removed names survive a power loss. */
  syncFolders(): void {
    for (const folder of this.#unsynced) {
      if (!this.#isDurable || !canSyncFolders || volatileFolders.has(folder)) continue
      const file = this.#openFolder(folder)
      if (file !== undefined) this.#closing(file, () => this.disk.sync(file))
    }
    this.#unsynced.clear()
  }

  /** The parent directory may be unreadable for this user; then its sync is left to the system. */
  #openFolder(folder: string): number | undefined {
    try {
      return this.disk.open(this.of(folder), 'r')
    } catch (error) {
      if (folder === '..' && codeOf(error) === 'EACCES') return undefined
      throw error
    }
  }

  #write(name: string, flags: string, change: (file: number) => void): void {
    const file = this.disk.open(this.of(name), flags)
    this.#closing(file, () => {
      change(file)
      if (this.#isDurable) this.disk.sync(file)
    })
  }

  #closing(file: number, act: () => void): void {
    try {
      act()
    } finally {
      this.disk.close(file)
    }
  }
}

function folderOf(name: string): string {
  const slash = name.lastIndexOf('/')
  return slash === -1 ? '.' : name.slice(0, slash)
}
