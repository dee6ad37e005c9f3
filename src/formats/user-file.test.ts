import { execFileSync } from 'node:child_process'
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { readUserFile, readUserFileSync, refusedFile, type UserFile } from './user-file.js'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-input-'))
})

/** Both ways of reading must return the same. */
async function read(path: string, maxBytes: number): Promise<object> {
  const found = withText(await readUserFile(path, maxBytes))
  expect(withText(readUserFileSync(path, maxBytes))).toEqual(found)
  return found
}

/** Texts are compared faster than bytes. */
function withText(found: UserFile): object {
  return found.kind === 'read' ? { kind: 'read', text: found.bytes.toString() } : found
}

describe('a file that a user names', () => {
  it('is read whole up to its limit, also where it is a link to one or larger than one read', async () => {
    const path = join(directory, 'a.txt')
    const text = 'abcd'.repeat(50_000)
    writeFileSync(path, text)
    symlinkSync(path, join(directory, 'link'))
    expect(await read(path, 200_000)).toEqual({ kind: 'read', text })
    expect(await read(join(directory, 'link'), 200_000)).toEqual({ kind: 'read', text })
    expect(await read(path, 199_999)).toEqual({ kind: 'too-large', why: '200000 bytes, at most 199999' })
    expect(await refusedFile(path)).toBeUndefined()
  })

  it.each([
    ['nothing', 'none', 'absent', 'there is no such file'],
    ['a directory', '.', 'refused', 'it is a directory, not a file'],
    ['a NUL', 'a\0b', 'refused', 'its path contains a NUL character'],
    ['too many characters', 'x'.repeat(5000), 'refused', 'its path is too long'],
  ])('is refused with a reason if its path names %s', async (_, name, kind, why) => {
    expect(await read(join(directory, name), 10)).toMatchObject({ kind, why })
    expect(await refusedFile(join(directory, name))).toBe(why)
  })
})

describe.skipIf(process.platform === 'win32')('a path that is not a regular file', () => {
  it('a pipe is refused immediately, although nothing writes to it', async () => {
    const path = join(directory, 'pipe')
    execFileSync('mkfifo', [path])
    expect(await read(path, 10)).toMatchObject({ kind: 'refused', why: 'it is a pipe, not a file' })
    expect(await refusedFile(path)).toBe('it is a pipe, not a file')
  })

  it('a device and a socket are refused before they are read', async () => {
    expect(await read('/dev/zero', 10)).toMatchObject({ kind: 'refused', why: 'it is a device, not a file' })
    const path = join(directory, 'socket')
    const server = createServer().listen(path)
    await new Promise((resolve) => server.once('listening', resolve))
    expect(await read(path, 10)).toMatchObject({ kind: 'refused', why: 'it is a socket, not a file' })
    await new Promise((resolve) => server.close(resolve))
  })

  it.runIf(process.platform === 'linux')(
    'reading a file with a wrong size of 0 stops at its limit',
    async () => {
      expect(await read('/proc/self/status', 20)).toEqual({
        kind: 'too-large',
        why: 'more than 20 bytes, at most 20',
      })
      expect(await read('/proc/self/cmdline', 100_000)).toMatchObject({ kind: 'read' })
    },
  )
})
