import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createApp } from '../../src/app/rota.js'
import type { Run } from '../../src/kernel/run/run.js'

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const config = fileURLToPath(new URL('./rota.config.mjs', import.meta.url))

/** The result of a time under load. */
export interface LoadReport {
  readonly runs: number
  readonly doneUnderLoad: number
  /** Live workers that lost their leases. */
  readonly lostLeases: number
  readonly lostRuns: number
  /** Attempts beyond the first of a run: nothing crashed, so there must be none. */
  readonly repeats: number
  /** Attempts of an exclusive job that ran at the same time as another one. */
  readonly overlaps: number
  /** Runs that became due under load and were not done in the end. */
  readonly unfinished: number
  /** How long after the load everything was done; undefined if it took too long. */
  readonly healedAfterMs: number | undefined
  /** How long the slowest process took to exit after SIGTERM; undefined if one had not exited after a minute. */
  readonly slowestStopMs: number | undefined
  /** How often the programs reported `trouble`, by code. */
  readonly trouble: Readonly<Record<string, number>>
}

/** How a machine is loaded, and for how long. */
export interface LoadOptions {
  readonly directory: string
  readonly processes: number
  /** Processes that do nothing but use the processor. */
  readonly burners: number
  readonly loadMs: number
  /** How long to wait for the remaining work. */
  readonly healMs: number
}

/** Starts real programs on one directory, loads the machine on purpose for a while, and then reports what happened. */
export async function filesUnderLoad(options: LoadOptions): Promise<LoadReport> {
  return await new Load(options).run()
}

class Load {
  readonly #options: LoadOptions
  readonly #store: string
  readonly #performed: string
  readonly #processes: ChildProcess[] = []
  readonly #trouble: Record<string, number> = {}
  #lostLeases = 0
  #lostRuns = 0

  constructor(options: LoadOptions) {
    this.#options = options
    this.#store = `files:${join(options.directory, 'data')}`
    this.#performed = join(options.directory, 'performed.txt')
  }

  async run(): Promise<LoadReport> {
    const { processes, burners, loadMs } = this.#options
    for (let i = 0; i < processes; i++) await this.#start()
    const burning = Array.from({ length: burners }, () => burn(loadMs))
    await Promise.all([wait(loadMs), ...burning])
    const loadedUntil = Date.now()
    const doneUnderLoad = this.#lines('end').length
    const healedAfterMs = await this.#heal()
    const slowestStopMs = await this.#stop()
    const runs = await this.#runs()
    const begun = this.#lines('begin')
    return {
      runs: runs.length,
      doneUnderLoad,
      lostLeases: this.#lostLeases,
      lostRuns: this.#lostRuns,
      repeats: begun.length - new Set(begun.map(({ run }) => run)).size,
      overlaps: overlapsOf(this.#lines()),
      unfinished: runs.filter(({ state, dueAt }) => state !== 'done' && dueAt <= loadedUntil).length,
      healedAfterMs,
      slowestStopMs,
      trouble: this.#trouble,
    }
  }

  /** Resolves when the program reports that it has started. */
  async #start(): Promise<void> {
    const child = spawn(process.execPath, [program, 'up', '--config', config, '--no-serve', '--json'], {
      env: { ...process.env, LOAD_TEST_STORE: this.#store, LOAD_TEST_PERFORMED: this.#performed },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#processes.push(child)
    const lines = createInterface({ input: child.stdout })
    await new Promise<void>((resolve, reject) => {
      lines.once('line', () => resolve())
      child.once('exit', (code, signal) => reject(new Error(`ended by itself with ${code ?? signal}`)))
      lines.on('line', (line) => this.#hear(line))
    })
  }

  #hear(line: string): void {
    const said = JSON.parse(line) as { event?: string; code?: string }
    if (said.event === 'worker:expired') this.#lostLeases += 1
    if (said.event === 'run:lost') this.#lostRuns += 1
    if (said.event !== 'trouble' && said.event !== 'fatal') return
    const code = said.code ?? 'unknown'
    this.#trouble[code] = (this.#trouble[code] ?? 0) + 1
  }

  /** Waits until everything that was due more than a moment ago is done. */
  async #heal(): Promise<number | undefined> {
    const startMs = Date.now()
    const app = createApp({ store: this.#store }, 'code:load-test-look')
    try {
      while (Date.now() - startMs < this.#options.healMs) {
        const left = [
          ...(await app.runs.list({ state: 'pending' })),
          ...(await app.runs.list({ state: 'running' })),
        ]
        if (left.every((run) => run.runAt > Date.now() - 3000)) return Date.now() - startMs
        await wait(250)
      }
      return undefined
    } finally {
      await app.close()
    }
  }

  async #stop(): Promise<number | undefined> {
    const startMs = Date.now()
    const ends = this.#processes.map(async (child) => {
      const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()))
      child.kill('SIGTERM')
      const hung = setTimeout(() => child.kill('SIGKILL'), 60_000)
      await exit
      clearTimeout(hung)
    })
    await Promise.all(ends)
    const isHung = this.#processes.some(({ signalCode }) => signalCode === 'SIGKILL')
    return isHung ? undefined : Date.now() - startMs
  }

  async #runs(): Promise<Run[]> {
    const app = createApp({ store: this.#store }, 'code:load-test-look')
    const all: Run[] = []
    for (;;) {
      const page = await app.runs.list({ limit: 1000, before: all.at(-1)?.id })
      all.push(...page)
      if (page.length < 1000) break
    }
    await app.close()
    return all
  }

  #lines(what?: 'begin' | 'end'): Line[] {
    const lines = readFileSync(this.#performed, 'utf8').split('\n').slice(0, -1)
    return lines
      .map((line) => line.split(' '))
      .map(([said = '', job = '', run = '', attempt = '', at = '']) => ({
        what: said,
        job,
        run,
        attempt,
        at: Number(at),
      }))
      .filter((line) => what === undefined || line.what === what)
  }
}

interface Line {
  readonly what: string
  readonly job: string
  readonly run: string
  readonly attempt: string
  readonly at: number
}

/** How often an exclusive job began while another attempt of it was running. */
function overlapsOf(lines: readonly Line[]): number {
  const going = new Map<string, number>()
  let overlaps = 0
  for (const { what, job } of lines.filter((line) => line.job.startsWith('alone'))) {
    const count = going.get(job) ?? 0
    if (what === 'begin' && count > 0) overlaps += 1
    going.set(job, what === 'begin' ? count + 1 : count - 1)
  }
  return overlaps
}

async function burn(ms: number): Promise<void> {
  const code = `const end = Date.now() + ${ms}; while (Date.now() < end);`
  const child = spawn(process.execPath, ['-e', code], { stdio: 'ignore' })
  await new Promise((resolve) => child.once('exit', resolve))
}
