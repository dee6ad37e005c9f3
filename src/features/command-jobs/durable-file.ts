/** Writes files that other programs own, so that no failure can lose their previous contents. */
import { readSync, writeSync, type BigIntStats } from 'node:fs'
import { chmod, chown, lstat, open, rm, stat, type FileHandle } from 'node:fs/promises'
import type { UserFile } from '../../formats/user-file.js'
import { longestLine } from './lines.js'
import type { Instant } from '../../time/instant.js'

/** The line feed. */
export const newline = 0x0a

/** Whether the last line ends with a line feed. */
export function isEnded(bytes: Buffer): boolean {
  return bytes.length === 0 || bytes.at(-1) === newline
}

/** Whether a line is complete except for its line feed: no part of a JSON object is valid JSON. */
export function isWhole(line: Buffer): boolean {
  try {
    JSON.parse(line.toString('utf8'))
    return true
  } catch {
    return line.toString('utf8').trim() === ''
  }
}

/** The bytes after the last line feed of a file. */
export function lastLine(file: FileHandle, size: number): Buffer {
  const last = tailOf(file, size, 1)
  if (isEnded(last)) return Buffer.alloc(0)
  const tail = tailOf(file, size, longestLine + 1)
  return tail.subarray(tail.lastIndexOf(newline) + 1)
}

/** Whether appended bytes are at the start of a line; also true if they are no longer there. */
export function isBehindLine(tail: Buffer, own: Buffer): boolean {
  const at = tail.lastIndexOf(own)
  return at <= 0 || tail[at - 1] === newline
}

/** Repairs a text in which our lines were written into the line of another program: joins that line, and puts ours after it. */
export function separated(text: Buffer, own: Buffer): Buffer | 'apart' | 'begun' {
  if (isBehindLine(text, own)) return 'apart'
  const at = text.lastIndexOf(own)
  const begun = text.subarray(text.lastIndexOf(newline, at - 1) + 1, at)
  const after = text.subarray(at + own.length)
  const end = after.indexOf(newline) + 1
  const rest = after.subarray(0, end)
  if (end === 0 || !isWhole(Buffer.concat([begun, rest]))) return 'begun'
  return Buffer.concat([text.subarray(0, at), rest, own, after.subarray(end)])
}

/** Inserts the beginning of a line before its rest; undefined if the text at that position is not the rest. */
export function joinedAt(text: Buffer, begun: Buffer, at: number): Buffer | undefined {
  const rest = text.subarray(at)
  const end = rest.indexOf(newline) + 1
  const line = Buffer.concat([begun.subarray(begun.lastIndexOf(newline) + 1), rest.subarray(0, end)])
  if (end === 0 || isWhole(rest.subarray(0, end)) || !isWhole(line)) return undefined
  return Buffer.concat([text.subarray(0, at), begun, rest])
}

/** The last bytes of a file, at most this many. */
export function tailOf(file: FileHandle, size: number, most: number): Buffer {
  const length = Math.min(size, most)
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file.fd, bytes, 0, length, size - length))
}

/** Appends all bytes or, if the disk becomes full, none: half a line, or half of the lines, would look intended. */
export async function appendWhole(file: FileHandle, size: number, bytes: Buffer): Promise<void> {
  try {
    // Synchronously: during an await, another program may begin a line.
    for (let done = 0; done < bytes.length; ) done += writeSync(file.fd, bytes, done)
    await file.sync()
  } catch (error) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes.length + 1), 0, bytes.length + 1, size)
    const isOwn = bytes.subarray(0, bytesRead).equals(buffer.subarray(0, bytesRead))
    if (isOwn) await file.truncate(size)
    throw error
  }
}

/** Writes a file that will replace another one; removes it if it could not be written completely. */
export async function writeWhole(path: string, bytes: Buffer): Promise<void> {
  // A leftover of a killed process, or a link that somebody put there, must not be written to.
  await rm(path, { force: true })
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

/** Owner and mode of a file stay the same: if Rota cannot set them, it does not replace the file. */
export async function likeBefore(path: string, before: FileHandle): Promise<void> {
  const { mode, uid, gid } = await before.stat()
  const own = await stat(path)
  if (own.uid !== uid || own.gid !== gid) await chown(path, uid, gid)
  await chmod(path, mode & 0o777)
}

/** Makes the contents of a file durable. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Makes the names in a directory durable. */
export async function syncFolder(path: string): Promise<void> {
  // Windows has no such call and does not need it.
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** The result of a file operation, or undefined if the file does not exist. */
export async function unlessAbsent<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Creates a lock file for its owner only. An existing one must not be opened: closing it would release a lock that this process holds. */
export async function makeLockFile(path: string): Promise<void> {
  if ((await unlessAbsent(lstat(path))) !== undefined) return
  try {
    await (await open(path, 'wx', 0o600)).close()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Texts as lines. */
export function linesOf(texts: readonly string[]): Buffer {
  return Buffer.from(texts.map((text) => `${text}\n`).join(''))
}

/** Differs whenever somebody has written a file since. */
export function versionOf(found: BigIntStats | undefined): string {
  return found === undefined ? '' : `${found.ino}:${found.size}:${found.mtimeNs}`
}

/** The contents of a file that did not change while it was read. */
export interface ReadText {
  readonly text: UserFile
  readonly version: string
  readonly modifiedAt: Instant
}

/** The contents, if the file did not change while it was read. */
export function asRead(
  before: BigIntStats | undefined,
  text: UserFile,
  after: BigIntStats | undefined,
): ReadText | undefined {
  const version = versionOf(before)
  if (before === undefined || version !== versionOf(after)) return undefined
  return { text, version, modifiedAt: Number(before.mtimeMs) }
}
