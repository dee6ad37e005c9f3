/** Writes files that other programs own, so that no failure can lose their previous contents. */
import { readSync, writeSync, type BigIntStats } from 'node:fs'
import { chmod, chown, lstat, open, rm, stat, type FileHandle } from 'node:fs/promises'
import type { UserFile } from '../../formats/user-file.js'
import { longestLine } from './lines.js'
import type { Instant } from '../../time/instant.js'

/** The end of a line. */
export const newline = 0x0a

/** Whether nothing follows the last end of a line. */
export function isEnded(bytes: Buffer): boolean {
  return bytes.length === 0 || bytes.at(-1) === newline
}

/** Whether a line lacks nothing but its end: no part of a JSON map is one. */
export function isWhole(line: Buffer): boolean {
  try {
    JSON.parse(line.toString('utf8'))
    return true
  } catch {
    return line.toString('utf8').trim() === ''
  }
}

/** What stands behind the last end of a line in a file. */
export function lastLine(file: FileHandle, size: number): Buffer {
  const last = tailOf(file, size, 1)
  if (isEnded(last)) return Buffer.alloc(0)
  const tail = tailOf(file, size, longestLine + 1)
  return tail.subarray(tail.lastIndexOf(newline) + 1)
}

/** Whether bytes that were appended begin a line; so do those that are no longer there. */
export function isBehindLine(tail: Buffer, own: Buffer): boolean {
  const at = tail.lastIndexOf(own)
  return at <= 0 || tail[at - 1] === newline
}

/** A text in which lines stand inside the line of another program: with that line put together and those behind it. */
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

/** A text with the beginning of a line put before its rest; absent where what stands there is not the rest of it. */
export function joinedAt(text: Buffer, begun: Buffer, at: number): Buffer | undefined {
  const rest = text.subarray(at)
  const end = rest.indexOf(newline) + 1
  const line = Buffer.concat([begun.subarray(begun.lastIndexOf(newline) + 1), rest.subarray(0, end)])
  if (end === 0 || isWhole(rest.subarray(0, end)) || !isWhole(line)) return undefined
  return Buffer.concat([text.subarray(0, at), begun, rest])
}

/** The end of a file, at most so many bytes. */
export function tailOf(file: FileHandle, size: number, most: number): Buffer {
  const length = Math.min(size, most)
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file.fd, bytes, 0, length, size - length))
}

/** Appends bytes, or nothing where the disk is full in the middle of them: half of a line, or half of the lines, would stay as if somebody had meant it. */
export async function appendWhole(file: FileHandle, size: number, bytes: Buffer): Promise<void> {
  try {
    // At once: between a look at the file and this, another program may begin a line.
    for (let done = 0; done < bytes.length; ) done += writeSync(file.fd, bytes, done)
    await file.sync()
  } catch (error) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes.length + 1), 0, bytes.length + 1, size)
    const isOwn = bytes.subarray(0, bytesRead).equals(buffer.subarray(0, bytesRead))
    if (isOwn) await file.truncate(size)
    throw error
  }
}

/** Writes a file that takes the place of another one later; where it does not fit, nothing of it stays. */
export async function writeWhole(path: string, bytes: Buffer): Promise<void> {
  // What a killed process left behind, or what somebody put there, is not written through.
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

/** Makes what is in a file durable. */
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
  // Windows has no such call, and writes names down by itself.
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** What was asked of a file, or nothing where there is none. */
export async function unlessAbsent<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** For its owner alone. It must not be opened once it exists: closing it would free a lock that this process holds. */
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

/** What was read of a file that stayed as it was meanwhile. */
export interface ReadText {
  readonly text: UserFile
  readonly version: string
  readonly modifiedAt: Instant
}

/** What was read, where the file stayed as it was meanwhile. */
export function asRead(
  before: BigIntStats | undefined,
  text: UserFile,
  after: BigIntStats | undefined,
): ReadText | undefined {
  const version = versionOf(before)
  if (before === undefined || version !== versionOf(after)) return undefined
  return { text, version, modifiedAt: Number(before.mtimeMs) }
}
