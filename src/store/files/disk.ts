import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
  type Stats,
} from 'node:fs'
import { makeDirectories } from '../make-directories.js'

/** Every file system call of a file store, so that a test can simulate a crash at each of them. */
export interface Disk {
  open(path: string, flags: string): number
  close(file: number): void
  write(file: number, data: Uint8Array, position: number): number
  truncate(file: number, size: number): void
  /** Returns once the file or directory is on the disk. */
  sync(file: number): void
  rename(from: string, to: string): void
  remove(path: string): void
  makeDirectory(path: string): void
  size(file: number): number
  /** The content of a file from a position on. */
  readFrom(file: number, position: number): Buffer
  read(path: string): Buffer | undefined
  list(path: string): string[]
  /** The status of a path without following symbolic links. */
  lstat(path: string): Stats | undefined
}

/** The file system of this machine. New files are readable only by their owner. */
export const realDisk: Disk = {
  open: (path, flags) => openSync(path, flags, 0o600),
  close: closeSync,
  write: (file, data, position) => writeSync(file, data, 0, data.length, position),
  truncate: ftruncateSync,
  sync: fsyncSync,
  rename: renameSync,
  remove: unlinkSync,
  makeDirectory: makeDirectories,
  size: (file) => fstatSync(file).size,
  readFrom(file, position) {
    const data = Buffer.allocUnsafe(Math.max(0, fstatSync(file).size - position))
    let length = 0
    while (length < data.length) {
      const read = readSync(file, data, length, data.length - length, position + length)
      if (read === 0) break
      length += read
    }
    return data.subarray(0, length)
  },
  read: (path) => unlessAbsent(() => readFileSync(path)),
  list: (path) => unlessAbsent(() => readdirSync(path)) ?? [],
  lstat: (path) => lstatSync(path, { throwIfNoEntry: false }),
}

function unlessAbsent<T>(ask: () => T): T | undefined {
  try {
    return ask()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The system's error code. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
