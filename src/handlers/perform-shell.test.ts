import { chmodSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { ShellSpec } from '../kernel/job/job.js'
import type { Json } from '../kernel/definition/json.js'
import { systemClock } from '../time/clock.js'
import { performShell, type ShellContext } from './perform-shell.js'

let directory: string

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), 'rota-shell-')))
})

describe('a command', () => {
  it('returns its exit code and the end of its output', async () => {
    const { context, lines } = contextFor()
    await expect(performShell(node('console.log("a\\nb"); console.error("c")'), context)).resolves.toEqual({
      exitCode: 0,
      stdout: 'a\nb',
    })
    expect(lines.toSorted()).toEqual(['info a', 'info b', 'warn c'])
  })

  it('fails with its exit code and the last lines of its errors', async () => {
    const { context } = contextFor()
    const command = node('for (let i = 1; i < 9; i++) console.error("line " + i); process.exitCode = 3')
    await expect(performShell(command, context)).rejects.toThrow(
      expect.objectContaining({
        code: 'HANDLER_FAILED',
        message: 'exit 3: line 4\nline 5\nline 6\nline 7\nline 8',
      }),
    )
  })

  it('names the signal that killed it', async () => {
    const { context } = contextFor()
    await expect(performShell(node('process.kill(process.pid, "SIGSEGV")'), context)).rejects.toThrow(
      /^killed by SIGSEGV$/,
    )
  })

  it('that does not exist is named', async () => {
    const { context } = contextFor()
    await expect(performShell(shell('no-such-program', 'x'), context)).rejects.toThrow(
      expect.objectContaining({ code: 'HANDLER_FAILED', message: 'command not found: no-such-program' }),
    )
  })

  it('in a missing directory says so', async () => {
    const { context } = contextFor()
    await expect(performShell({ ...node('1'), cwd: 'nowhere' }, context)).rejects.toThrow(
      `directory not found: ${join(directory, 'nowhere')}`,
    )
  })

  it('that is not executable says so', async () => {
    const { context } = contextFor()
    const file = join(directory, 'plain.txt')
    writeFileSync(file, 'x')
    chmodSync(file, 0o600)
    await expect(performShell(shell(file), context)).rejects.toThrow(`command is not executable: ${file}`)
  })

  it('that even the runtime refuses to start fails like any other', async () => {
    const { context } = contextFor()
    await expect(performShell(shell('a\0b'), context)).rejects.toThrow(
      expect.objectContaining({ code: 'HANDLER_FAILED' }),
    )
  })

  it('runs in the directory of the app, or in its own one below', async () => {
    const { context } = contextFor()
    const here = node('console.log(process.cwd())')
    await expect(performShell(here, context)).resolves.toMatchObject({ stdout: directory })
    await expect(performShell({ ...here, cwd: '..' }, context)).resolves.toMatchObject({
      stdout: join(directory, '..'),
    })
  })

  it('finds its input closed', async () => {
    const { context } = contextFor()
    await expect(performShell(shell('cat'), context)).resolves.toEqual({ exitCode: 0, stdout: '' })
  })

  it('leads a process group of its own', async () => {
    const { context } = contextFor()
    const script =
      'const f = require("fs").readFileSync("/proc/self/stat", "utf8").split(" "); console.log(f[0] === f[4])'
    await expect(performShell(node(script), context)).resolves.toMatchObject({ stdout: 'true' })
  })
})

describe('the environment of a command', () => {
  const printed = node('console.log(JSON.stringify(process.env))')

  async function environmentOf(context: ShellContext, own?: Record<string, string>): Promise<object> {
    const result = await performShell({ ...printed, env: own }, context)
    return JSON.parse((result as { stdout: string }).stdout) as object
  }

  it('contains only what programs need, the variables of the job and those of the run', async () => {
    const { context } = contextFor({
      environment: {
        PATH: process.env['PATH'],
        HOME: '/somewhere',
        LANG: 'C',
        LC_ALL: 'C',
        TZ: 'UTC',
        TMPDIR: '/tmp',
        USER: 'x',
        AWS_SECRET_ACCESS_KEY: 'secret',
        ROTA_TOKEN: 'secret',
        NODE_OPTIONS: '--no-warnings',
        LD_PRELOAD: '',
      },
    })
    expect(await environmentOf(context, { EXTRA: '$HOME `id`', LANG: 'de' })).toEqual({
      PATH: process.env['PATH'],
      HOME: '/somewhere',
      LANG: 'de',
      LC_ALL: 'C',
      TZ: 'UTC',
      TMPDIR: '/tmp',
      USER: 'x',
      EXTRA: '$HOME `id`',
      ROTA_RUN_ID: 'run-1',
      ROTA_JOB: 'job',
      ROTA_TRIGGER: 'trigger',
      ROTA_ATTEMPT: '2',
      ROTA_DUE_AT: '2026-01-05T02:00:00Z',
      ROTA_PARTITION: '2026-01-05',
      ROTA_PAYLOAD: '{"a":1}',
    })
  })

  it('contains secrets from a variable or a file, and masks them in logs and results', async () => {
    const file = join(directory, 'key')
    writeFileSync(file, 'line one of it\nline two of it\n')
    const { context, lines } = contextFor({ environment: { PATH: process.env['PATH'], TOKEN: 'abc.def' } })
    const env = { API_TOKEN: { env: 'TOKEN' }, KEY: { file: 'key' } }
    const script =
      'console.log(process.env.API_TOKEN.length, process.env.API_TOKEN); console.log(process.env.KEY)'
    await expect(performShell({ ...node(script), env }, context)).resolves.toEqual({
      exitCode: 0,
      stdout: '7 ***\n***',
    })
    expect(lines).toEqual(['info 7 ***', 'info ***', 'info ***'])
    const failing = { ...node('console.error(process.env.API_TOKEN); process.exit(3)'), env }
    await expect(performShell(failing, context)).rejects.toThrow(/^exit 3: \*\*\*$/)
    const missing = { ...node('1'), env: { A: { env: 'NOBODY' } } }
    await expect(performShell(missing, context)).rejects.toMatchObject({
      code: 'SECRET_MISSING',
      message: 'A: the variable NOBODY is not set in this process',
    })
  })

  it('leaves out what the run does not have', async () => {
    const { context } = contextFor({ run: { trigger: undefined, partition: undefined, payload: undefined } })
    const names = Object.keys(await environmentOf(context)).filter((name) => name.startsWith('ROTA_'))
    expect(names.toSorted()).toEqual(['ROTA_ATTEMPT', 'ROTA_DUE_AT', 'ROTA_JOB', 'ROTA_RUN_ID'])
  })

  it('passes a payload full of shell characters unchanged, like arguments', async () => {
    const nasty = `'; rm -rf / #\n"$(id)" \`id\` $HOME * ? ~ | & > < \\ é 🎉 \u0007`
    const { context, lines } = contextFor({ run: { payload: { nasty } } })
    const script =
      'const p = JSON.parse(process.env.ROTA_PAYLOAD); console.log(p.nasty === process.argv[1], p.nasty.length)'
    await performShell(shell(process.execPath, '-e', script, nasty), context)
    expect(lines).toEqual([`info true ${nasty.length}`])
  })

  it('refuses a payload that is too large for a variable, with its size', async () => {
    const { context } = contextFor({ run: { payload: 'x'.repeat(140_000) } })
    await expect(performShell(printed, context)).rejects.toThrow(
      "ROTA_PAYLOAD has 140016 bytes, and a command's variable holds at most 131072",
    )
  })
})

describe('the output of a command', () => {
  it('is bounded: ten megabytes leave a bounded log, a warning and the last lines', async () => {
    const { context, lines } = contextFor()
    const script =
      'const l = "y".repeat(99) + "\\n"; for (let i = 0; i < 1e5; i++) process.stdout.write(l); console.log("the end")'
    const result = await performShell(node(script), context)
    expect(lines).toHaveLength(1000)
    expect(lines.at(-1)).toBe(
      `warn output was cut: ${(100_000 - 999) * 99 + 'the end'.length} bytes were dropped`,
    )
    expect((result as { stdout: string }).stdout).toMatch(/y\nthe end$/)
  })

  it('is bounded even if it is one line', async () => {
    const { context, lines } = contextFor()
    await performShell(node('process.stdout.write("é".repeat(5_000_000))'), context)
    expect(lines).toEqual([`info ${'é'.repeat(4064)}… (${10_000_000 - 8128} more bytes)`])
  })

  it('is made printable: control characters, terminal sequences and invalid bytes are escaped', async () => {
    const { context, lines } = contextFor()
    const script =
      'process.stdout.write(Buffer.from("tab\\t \\x1b[31mred \\x07 \\u202e é\\r\\n")); process.stdout.write(Buffer.from([0x61, 0xff, 0xc3, 0x00, 0x0a]))'
    await performShell(node(script), context)
    expect(lines).toEqual(['info tab\t \\x1b[31mred \\x07 \\u202e é', 'info a\\xff\\xc3\\x00'])
  })
})

function shell(...argv: string[]): ShellSpec {
  return { kind: 'shell', argv }
}

function node(script: string, ...words: string[]): ShellSpec {
  return shell(process.execPath, '-e', script, ...words)
}

function contextFor(change: { run?: object; environment?: ShellContext['environment'] } = {}): {
  context: ShellContext
  lines: string[]
} {
  const lines: string[] = []
  const payload: Json = { a: 1 }
  const context: ShellContext = {
    run: {
      id: 'run-1',
      job: 'job',
      trigger: 'trigger',
      attempt: 2,
      isLastAttempt: false,
      dueAt: Date.parse('2026-01-05T02:00:00Z'),
      partition: '2026-01-05',
      payload,
      ...change.run,
    },
    signal: new AbortController().signal,
    log: (level, text) => lines.push(`${level} ${text}`),
    clock: systemClock,
    environment: change.environment ?? { PATH: process.env['PATH'] },
    directory,
  }
  return { context, lines }
}
