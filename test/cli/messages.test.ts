import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exitCodeOf } from '../../src/cli/framework/failure.js'
import { errorCodes, RotaError, type ErrorCode } from '../../src/kernel/definition/errors.js'
import { filesUnder, root } from '../repository.js'
import { runHere } from './in-process.js'
import { emptyDirectory } from './rota.js'

describe('a config above the working directory', () => {
  it('is used and printed, and its relative paths start at its directory', async () => {
    const directory = emptyDirectory()
    const inner = join(directory, 'a/b')
    mkdirSync(inner, { recursive: true })
    writeFileSync(join(directory, 'rota.config.yaml'), 'app: above\nstore: sqlite:kept/rota.db\n')
    const added = await runHere(['add', 'ping', '--every', '1h', '--', 'true'], { directory: inner })
    expect(added).toMatchObject({ code: 0, stderr: 'config: ../../rota.config.yaml\n' })
    const listed = await runHere(['list', '--names'], { directory })
    expect(listed).toEqual({ code: 0, stdout: 'ping\n', stderr: '' })
    const json = await runHere(['list', '--names', '--json'], { directory: inner })
    expect(json).toEqual({ code: 0, stdout: '["ping"]\n', stderr: '' })
    const own = await runHere(['init', '--yes'], { directory: inner })
    expect(own).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('messages', () => {
  it('about results wrap at words on a terminal, too', async () => {
    const directory = emptyDirectory()
    const add = ['add', 'nightly_report', '--every', '1h', '--', 'true']
    expect((await runHere(add, { directory, columns: 50 })).stdout.trimEnd().split('\n')).toEqual([
      'added job nightly_report and trigger',
      '  nightly_report; `rota show nightly_report`',
      '  shows when it is due',
    ])
    const pause = ['pause', 'nightly_report']
    expect((await runHere(pause, { directory })).stdout).toBe('paused trigger nightly_report\n')
  })

  it('wrap at words on a terminal, and are one line elsewhere', async () => {
    const directory = emptyDirectory()
    const argv = ['next', '61 * * * *']
    const [narrow, piped] = [
      await runHere(argv, { directory, columns: 50 }),
      await runHere(argv, { directory }),
    ]
    const lines = narrow.stderr.trimEnd().split('\n')
    expect(lines.length).toBeGreaterThan(1)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(50)
    expect(lines.slice(1).every((line) => line.startsWith('  '))).toBe(true)
    expect(`${lines.map((line) => line.trim()).join(' ')}\n`).toBe(piped.stderr)
    expect(piped.stderr.split('\n').length).toBe(2)
  })
})

describe('exit codes in the docs', () => {
  const codeOf = (code: ErrorCode): number => exitCodeOf(new RotaError(code, ''))

  it('of guides and reference are those of the program', () => {
    const claims = filesUnder('docs/guides', ['.md']).flatMap(({ text }) =>
      text.split('\n').flatMap((line) => {
        const [, code, exit] = /`([A-Z]+_[A-Z_]+)`[^|]*exit code (\d+)/.exec(line) ?? []
        return code !== undefined && Object.hasOwn(errorCodes, code) ? [{ code, exit: Number(exit) }] : []
      }),
    )
    expect(claims.length).toBeGreaterThan(3)
    for (const { code, exit } of claims)
      expect({ code, exit }).toEqual({ code, exit: codeOf(code as ErrorCode) })
  })

  it('of stores are 3, except those in the table of exit codes', () => {
    const table = readFileSync(join(root, 'docs/reference/cli.md'), 'utf8')
    const [, except = ''] = /begins with `STORE_`, except (.*) \|/.exec(table) ?? []
    const others = (Object.keys(errorCodes) as ErrorCode[]).filter(
      (code) => code.startsWith('STORE_') && codeOf(code) !== 3,
    )
    expect(others.map((code) => `\`${code}\``).join(', ')).toBe(except)
    expect(table).toMatch(/\| 74 \| .*`STORE_IO`/)
    expect(codeOf('STORE_IO')).toBe(74)
  })
})
