import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { root } from '../repository.js'
import { emptyDirectory } from './rota.js'

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const directories = new Set<string>()
const children = new Set<ChildProcess>()
const servers = new Set<Server>()

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  await Promise.all([...children].map(endOf))
  children.clear()
  for (const server of servers) server.close()
  servers.clear()
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
  directories.clear()
})

function newDirectory(): string {
  const directory = emptyDirectory()
  directories.add(directory)
  return directory
}

/** A queue with one run that is due. */
function queue(): string {
  const cwd = newDirectory()
  cpSync(join(root, 'examples/plans'), cwd, { recursive: true })
  const id = '00f0a1094f8b'
  const file = {
    schema_version: 'v1',
    job_id: id,
    scheduled_for: '2026-01-05T11:00:00Z',
    pipeline_path: 'pipeline.web.yml',
    run_id: `20260105_1800_${id}`,
  }
  writeFileSync(join(cwd, 'pipeline.web.yml'), `steps: [{ run: [node, -e, "console.log('worked')"] }]`)
  const pending = join(cwd, 'data/queue/pending')
  mkdirSync(pending, { recursive: true })
  writeFileSync(join(pending, `20260105T110000Z_${id}.json`), JSON.stringify(file))
  return cwd
}

function filesOf(cwd: string, state: string): number {
  const path = join(cwd, 'data/queue', state)
  return existsSync(path) ? readdirSync(path).filter((name) => name.endsWith('.json')).length : 0
}

/** Starts a command with what its three streams are. */
function start(args: readonly string[], cwd: string, stdio: StdioOptions): ChildProcess {
  const env = { PATH: process.env['PATH'], HOME: cwd, XDG_STATE_HOME: cwd, TZ: 'UTC', WORKER_ENABLED: 'on' }
  const child = spawn(process.execPath, [main, ...args], { cwd, env, stdio })
  children.add(child)
  return child
}

async function endOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  return await new Promise((resolve) => child.once('exit', (code) => resolve(code)))
}

async function textOf(child: ChildProcess): Promise<string> {
  let text = ''
  for await (const piece of child.stderr ?? []) text += String(piece)
  return text
}

/** Runs a command on a disk that is full. */
async function onFullDisk(
  args: readonly string[],
  cwd: string,
): Promise<{ code: number | null; stderr: string }> {
  const full = openSync('/dev/full', 'w')
  const child = start(args, cwd, ['ignore', full, 'pipe'])
  closeSync(full)
  const stderr = await textOf(child)
  return { code: await endOf(child), stderr }
}

const isThere = existsSync('/dev/full')

describe('a command whose output cannot be written', () => {
  it.skipIf(!isThere)('performs its run on a full disk, and says so by its exit code', async () => {
    const cwd = queue()
    const { code, stderr } = await onFullDisk(['work'], cwd)
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: 'warning: standard output cannot be written: ENOSPC: no space left on device, write\n',
    })
    expect({ done: filesOf(cwd, 'done'), running: filesOf(cwd, 'running') }).toEqual({ done: 1, running: 0 })
    const [summary] = readdirSync(join(cwd, 'output/worker/artifacts'))
    expect(summary).toBe('worker_summary_00f0a1094f8b.json')
  })

  it('performs its run although its reader has left', async () => {
    const cwd = queue()
    const child = start(['work'], cwd, ['ignore', 'pipe', 'pipe'])
    child.stdout?.destroy()
    const stderr = await textOf(child)
    expect({ code: await endOf(child), stderr }).toEqual({ code: 0, stderr: '' })
    expect({ done: filesOf(cwd, 'done'), running: filesOf(cwd, 'running') }).toEqual({ done: 1, running: 0 })
  })

  it.skipIf(!isThere)('ends with 74 where it was asked for something that it could not print', async () => {
    const cwd = newDirectory()
    const shown = await onFullDisk(['next', '0 9 * * *'], cwd)
    expect(shown).toEqual({ code: 74, stderr: expect.stringMatching(/^warning: .*ENOSPC.*\n$/) })
    expect(await onFullDisk(['--help'], cwd)).toMatchObject({ code: 74 })
  })

  it.skipIf(!isThere)('ends as ever where its errors cannot be written', async () => {
    const cwd = newDirectory()
    const full = openSync('/dev/full', 'w')
    const refused = start(['next', 'nonsense'], cwd, ['ignore', full, full])
    const worked = start(['work', '--dry-run'], queue(), ['ignore', 'ignore', full])
    closeSync(full)
    expect([await endOf(refused), await endOf(worked)]).toEqual([2, 0])
  })
})

/** An app that performs two runs, each with much to say, one after the other, and tells of each. */
class Talker {
  readonly cwd = newDirectory()
  /** Resolves when both have come to their end. */
  readonly performed: Promise<void>
  readonly #server = createServer()

  constructor() {
    this.performed = new Promise((resolve) => {
      let count = 0
      this.#server.on('request', (_, response) => {
        response.end()
        count += 1
        if (count === 2) resolve()
      })
    })
  }

  async open(): Promise<this> {
    const port = await new Promise<number>((resolve) => {
      this.#server.listen(0, '127.0.0.1', () => resolve((this.#server.address() as AddressInfo).port))
    })
    servers.add(this.#server)
    const code = `for (let i = 0; i < 200; i++) console.log('x'.repeat(1000)); fetch('http://127.0.0.1:${port}')`
    const jobs = { talk: { command: ['node', '-e', code] } }
    const triggers = {
      first: { job: 'talk', at: '2026-01-01T00:00:00Z' },
      second: { job: 'talk', at: '2026-01-02T00:00:00Z' },
    }
    const config = { app: 'shop', concurrency: 1, jobs, triggers }
    writeFileSync(join(this.cwd, 'rota.config.json'), JSON.stringify(config))
    return this
  }
}

describe('an engine whose output cannot be written', () => {
  it.skipIf(!isThere)('works on although the disk of its log is full', async () => {
    const { cwd, performed } = await new Talker().open()
    const full = openSync('/dev/full', 'w')
    const engine = start(['up'], cwd, ['ignore', full, 'pipe'])
    closeSync(full)
    const stderr = textOf(engine)
    await performed
    engine.kill('SIGTERM')
    expect(await endOf(engine)).toBe(0)
    expect(await stderr).toBe(
      'warning: standard output cannot be written: ENOSPC: no space left on device, write\n',
    )
  })

  it('works on without a reader, and says so', async () => {
    const { cwd, performed } = await new Talker().open()
    const engine = start(['up', '--json'], cwd, ['ignore', 'pipe', 'pipe'])
    engine.stdout?.destroy()
    const stderr = textOf(engine)
    await performed
    engine.kill('SIGTERM')
    expect(await endOf(engine)).toBe(0)
    expect(await stderr).toBe('warning: standard output is closed; rota continues\n')
  })

  it('works on and ends although its reader reads nothing', async () => {
    const { cwd, performed } = await new Talker().open()
    const engine = start(['up', '--json'], cwd, ['ignore', 'pipe', 'pipe'])
    const stderr = textOf(engine)
    await performed
    engine.kill('SIGTERM')
    expect(await endOf(engine)).toBe(0)
    expect(await stderr).toBe('')
  })
})
