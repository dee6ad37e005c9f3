import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { filesUnder, root } from '../../../../test/repository.js'

const fence = /^```console at=(\S+)\n([^]*?)^```$/gm

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rota-walk-'))
  cpSync(join(root, 'examples'), join(directory, 'examples'), { recursive: true })
  mkdirSync(join(directory, 'bin'))
  const preload = join(root, 'test/fixtures/pretend-now.mjs')
  const program = join(root, 'dist/cli/main.js')
  const line = `exec "${process.execPath}" --import "${preload}" "${program}" "$@"`
  writeFileSync(join(directory, 'bin/rota'), `#!/bin/sh\n${line}\n`)
  chmodSync(join(directory, 'bin/rota'), 0o755)
})

afterEach(() => {
  rmSync(directory, { recursive: true })
})

describe('walkthroughs', () => {
  const pages = filesUnder('docs/guides', ['.md']).filter(({ text }) => text.includes('```console at='))

  it('there is one', () => {
    expect(pages.map(({ path }) => path)).toContain('docs/guides/queue-walkthrough.md')
  })

  it.each(pages)(
    'Q1–Q13: $path happens as it is written',
    ({ text }) => {
      const shell = new Shell(directory)
      for (const [, at = '', block = ''] of text.matchAll(fence)) {
        const commands = block.split(/^\$ /m).slice(1)
        for (const command of commands) {
          const [line = '', ...output] = command.split('\n')
          expect(`$ ${line}\n${steady(shell.run(line, at))}`).toBe(`$ ${line}\n${steady(output.join('\n'))}`)
        }
      }
    },
    120_000,
  )
})

/** Durations differ from run to run. */
function steady(output: string): string {
  return output.replace(/, in [\d.]+m?s$/gm, ', in a moment')
}

/** A shell that keeps its directory and its variables from one line to the next. */
class Shell {
  readonly #home: string
  #before = ''

  constructor(home: string) {
    this.#home = home
  }

  run(line: string, at: string): string {
    const script = `exec 2>&1\n${this.#before}${line}\n`
    if (/^(?:cd|export) /.test(line)) this.#before += `${line}\n`
    const { stdout } = spawnSync('sh', ['-c', script], {
      cwd: this.#home,
      env: {
        PATH: `${join(this.#home, 'bin')}:${process.env['PATH']}`,
        HOME: this.#home,
        TZ: 'UTC',
        LC_ALL: 'C.UTF-8',
        PRETEND_NOW: at,
      },
      encoding: 'utf8',
    })
    return stdout
  }
}
