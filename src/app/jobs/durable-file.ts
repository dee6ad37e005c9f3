/** Writing files of others so that what was there before is never lost, whatever fails in the middle. */
import { chmod, chown, open, rm, stat, type FileHandle } from 'node:fs/promises'

/** Appends bytes, or nothing where the disk is full in the middle of them: half of a line, or half of the lines, would stay as if somebody had meant it. */
export async function appendWhole(file: FileHandle, size: number, bytes: Buffer): Promise<void> {
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

/** Whoever could read and write a file still can: a file that could not be given back to its owner is not replaced. */
export async function likeBefore(path: string, before: FileHandle): Promise<void> {
  const { mode, uid, gid } = await before.stat()
  const own = await stat(path)
  if (own.uid !== uid || own.gid !== gid) await chown(path, uid, gid)
  await chmod(path, mode & 0o777)
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
