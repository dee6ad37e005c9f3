import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { displayWidth } from '../../src/cli/framework/print/display-width.js'

/** The built command. */
export const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** The result of a command line. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The directory and the environment of a command line. */
export interface Surroundings {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  /** Whether `rota up` serves the API on its default port. */
  readonly serves?: boolean
}

/** A separate directory for a test. */
export function emptyDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'rota-cli-'))
}

/** Runs the built command to its end. */
export async function rota(args: readonly string[], surroundings: Surroundings = {}): Promise<Ended> {
  const child = start(args, surroundings)
  return await child.ended
}

/** A command that runs, with what it has written so far. */
export interface Running {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves once the output has this text. */
  said(text: string | RegExp): Promise<string>
}

/** Starts the built command. */
export function start(args: readonly string[], surroundings: Surroundings = {}): Running {
  if (!existsSync(main)) throw new Error('build first: npm run build')
  const { cwd = emptyDirectory(), env = {}, input } = surroundings
  const state = emptyDirectoryOnce()
  const child = spawn(
    process.execPath,
    [main, ...(surroundings.serves === true ? args : withoutServing(args))],
    {
      cwd,
      env: {
        PATH: process.env['PATH'],
        HOME: state,
        XDG_STATE_HOME: state,
        TZ: 'UTC',
        USER: 'tester',
        ...env,
      },
    },
  )
  const seen = { stdout: '', stderr: '' }
  const listeners = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      seen[name] += text
      for (const listener of listeners) listener()
    })
  }
  // A command may end before it has read all its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input ?? '')
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code) => {
      resolve({ code, ...seen })
      for (const listener of listeners) listener()
    })
  })
  const said = (text: string | RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const all = seen.stdout + seen.stderr
        const found = typeof text === 'string' ? all.includes(text) : text.test(all)
        if (found) resolve(all)
        else if (child.exitCode !== null) reject(new Error(`ended with ${child.exitCode}:\n${all}`))
        if (found) listeners.delete(look)
      }
      listeners.add(look)
      look()
    })
  return { child, ended, said }
}

/** Many tests start an engine at the same time, so the API is served only on request. */
function withoutServing(args: readonly string[]): readonly string[] {
  const says = ['--port', '--host', '--read-only', '--no-serve', 'api', '--help']
  return args[0] === 'up' && !args.some((arg) => says.includes(arg)) ? [...args, '--no-serve'] : args
}

/** A separate directory for witness files, so that tests do not use the user's. */
let state: string | undefined
function emptyDirectoryOnce(): string {
  state ??= emptyDirectory()
  return state
}

/** The lines of a text that are longer than a terminal of 80 columns. */
export function tooWide(text: string): string[] {
  return text.split('\n').filter((line) => displayWidth(line) > 80)
}
