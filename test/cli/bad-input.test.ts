import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { emptyDirectory, rota, type Ended } from './rota.js'

let cwd: string

beforeEach(() => {
  cwd = emptyDirectory()
})

async function run(...args: string[]): Promise<Ended> {
  return await rota(args, { cwd })
}

describe.skipIf(process.platform === 'win32')('an endless file', () => {
  it.each([
    ['a config', 'list --config pipe.yaml', 'a pipe'],
    ['a config in code', 'list --config pipe.mjs', 'a pipe'],
  ])('is refused at once for %s', async (_, line, kind) => {
    execFileSync('mkfifo', ['pipe.yaml', 'pipe.mjs'], { cwd })
    const ended = await run(...line.split(' '))
    expect(ended, ended.stderr).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toContain(`it is ${kind}, not a file`)
  })

  it('is refused immediately as a payload, and so is an integer that would be rounded', async () => {
    symlinkSync('/dev/zero', join(cwd, 'zero'))
    const store = ['--store', 'sqlite:a.db']
    await run('add', 'one', '--every', '1h', ...store, '--', 'true')
    const ended = await run('enqueue', 'one', '--payload', '@zero', ...store)
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toContain('zero cannot be read: it is a device, not a file; `--payload -` reads')
    const rounded = await run('enqueue', 'one', '--payload', '{"id": 12345678901234567890}', ...store)
    expect(rounded.stderr).toContain('--payload:1:8: the integer 12345678901234567890 would be rounded')
  })
})
