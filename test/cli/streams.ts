import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { afterEach } from 'vitest'
import { emptyDirectory, main } from './rota.js'

const directories = new Set<string>()
const children = new Set<ChildProcess>()

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  await Promise.all([...children].map(endOf))
  children.clear()
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
  directories.clear()
})

/** A directory that is removed with the test. */
export function newDirectory(): string {
  const directory = emptyDirectory()
  directories.add(directory)
  return directory
}

/** Starts a command with the given standard streams. */
export function start(args: readonly string[], cwd: string, stdio: StdioOptions): ChildProcess {
  const env = { PATH: process.env['PATH'], HOME: cwd, XDG_STATE_HOME: cwd, TZ: 'UTC', WORKER_ENABLED: 'on' }
  const child = spawn(process.execPath, [main, ...args], { cwd, env, stdio })
  children.add(child)
  return child
}

/** The exit code of a command, when it has ended. */
export async function endOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  return await new Promise((resolve) => child.once('exit', (code) => resolve(code)))
}

/** Everything that a command writes to its standard error. */
export async function textOf(child: ChildProcess): Promise<string> {
  let text = ''
  for await (const piece of child.stderr ?? []) text += String(piece)
  return text
}

/** Runs a command on a full disk. */
export async function onFullDisk(
  args: readonly string[],
  cwd: string,
): Promise<{ code: number | null; stderr: string }> {
  const full = openSync('/dev/full', 'w')
  const child = start(args, cwd, ['ignore', full, 'pipe'])
  closeSync(full)
  const stderr = await textOf(child)
  return { code: await endOf(child), stderr }
}

/** Whether this machine has a disk that is always full. */
export const hasFullDisk = existsSync('/dev/full')
