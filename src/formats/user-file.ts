/**
 * The only way to read a file that a user names. A FIFO would block forever and a device may never end. So the file is
 * opened without blocking, its kind is checked, and reading stops at a limit, whatever its reported size is.
 */
import { closeSync, constants, fstatSync, openSync, readSync, statSync, type Stats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'

/** The result of reading a file. */
export type UserFile =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'absent'; readonly why: string; readonly cause: unknown }
  | { readonly kind: 'too-large'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string; readonly cause?: unknown }

/** Reads a regular file of at most `maxBytes`. */
export async function readUserFile(path: string, maxBytes: number): Promise<UserFile> {
  let file: FileHandle | undefined
  try {
    file = await open(path, flags)
    const refusal = refusalOf(await file.stat(), maxBytes)
    return refusal ?? (await contentOf(file, maxBytes))
  } catch (error) {
    return troubleOf(error)
  } finally {
    await file?.close()
  }
}

/** Reads a regular file of at most `maxBytes` synchronously: for small files. */
export function readUserFileSync(path: string, maxBytes: number): UserFile {
  let file: number | undefined
  try {
    file = openSync(path, flags)
    return refusalOf(fstatSync(file), maxBytes) ?? contentOfSync(file, maxBytes)
  } catch (error) {
    return troubleOf(error)
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Why a path cannot be read as a file, whatever its size; undefined if it can. */
export async function refusedFile(path: string): Promise<string | undefined> {
  let file: FileHandle | undefined
  try {
    file = await open(path, flags)
    return refusalOf(await file.stat(), Infinity)?.why
  } catch (error) {
    return troubleOf(error).why
  } finally {
    await file?.close()
  }
}

/** Why a path is not a regular file, without opening it; undefined if it is one, or does not exist yet. */
export function refusedKind(path: string): string | undefined {
  try {
    const found = statSync(path)
    return found.isFile() ? undefined : `it is ${kindOf(found)}, not a file`
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? undefined : troubleOf(error).why
  }
}

// Windows has neither flag.
const flags =
  constants.O_RDONLY |
  ((constants.O_NONBLOCK as number | undefined) ?? 0) |
  ((constants.O_NOCTTY as number | undefined) ?? 0)

type Refusal = Exclude<UserFile, { kind: 'read' }>

function refusalOf(found: Stats, maxBytes: number): Refusal | undefined {
  if (!found.isFile()) return { kind: 'refused', why: `it is ${kindOf(found)}, not a file` }
  return found.size > maxBytes ? tooLarge(`${found.size} bytes`, maxBytes) : undefined
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return 'a directory'
  if (found.isFIFO()) return 'a pipe'
  if (found.isSocket()) return 'a socket'
  return 'a device'
}

function tooLarge(size: string, maxBytes: number): Refusal {
  return { kind: 'too-large', why: `${size}, at most ${maxBytes}` }
}

const chunkBytes = 65_536

async function contentOf(file: FileHandle, maxBytes: number): Promise<UserFile> {
  const chunks = new Chunks(maxBytes)
  while (!chunks.isFull) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, null)
    if (bytesRead === 0) break
    chunks.add(buffer.subarray(0, bytesRead))
  }
  return chunks.whole
}

function contentOfSync(file: number, maxBytes: number): UserFile {
  const chunks = new Chunks(maxBytes)
  while (!chunks.isFull) {
    const buffer = Buffer.allocUnsafe(chunkBytes)
    const bytesRead = readSync(file, buffer, 0, chunkBytes, null)
    if (bytesRead === 0) break
    chunks.add(buffer.subarray(0, bytesRead))
  }
  return chunks.whole
}

/** The content read so far. A file may grow while it is read, and some files report a wrong size of 0. */
class Chunks {
  readonly #maxBytes: number
  readonly #chunks: Buffer[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isFull(): boolean {
    return this.#bytes > this.#maxBytes
  }

  get whole(): UserFile {
    if (this.isFull) return tooLarge(`more than ${this.#maxBytes} bytes`, this.#maxBytes)
    return { kind: 'read', bytes: Buffer.concat(this.#chunks) }
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
  }
}

function troubleOf(cause: unknown): Refusal {
  const { code = '', message } = cause as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent', why: 'there is no such file', cause }
  return { kind: 'refused', why: reasons[code] ?? message, cause }
}

const reasons: Readonly<Record<string, string>> = {
  EISDIR: 'it is a directory, not a file',
  ENXIO: 'it is a socket, not a file',
  EOPNOTSUPP: 'it is a socket, not a file',
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
  ELOOP: 'its symbolic links lead in a circle',
  ENAMETOOLONG: 'its path is too long',
  ERR_INVALID_ARG_VALUE: 'its path contains a NUL character',
}
