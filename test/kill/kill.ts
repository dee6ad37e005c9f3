import { spawn, type ChildProcess } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createApp, type App } from '../../src/app/rota.js'
import type { Run } from '../../src/kernel/run/run.js'
import { SeededRandom } from '../../src/testing/random.js'

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const config = fileURLToPath(new URL('./rota.config.mjs', import.meta.url))

/** What a campaign of kills showed. */
export interface KillReport {
  readonly kills: number
  readonly enqueued: number
  readonly runs: number
  readonly attempts: number
  readonly repeated: number
  /** Everything that broke a promise, one sentence each. */
  readonly broken: readonly string[]
}

/** Starts the real program twice on one store, kills either at random moments under load, and then reads what is left. */
export async function killCampaign(options: {
  seed: number
  kills: number
  store: string
  directory: string
}): Promise<KillReport> {
  const campaign = new Campaign(options)
  await campaign.run()
  return await campaign.judge()
}

class Campaign {
  readonly #random: SeededRandom
  readonly #kills: number
  readonly #store: string
  readonly #performed: string
  readonly #acknowledged: string[] = []
  readonly #processes: ChildProcess[] = []
  readonly #starting: Promise<void>[] = []
  #isOver = false

  constructor(options: { seed: number; kills: number; store: string; directory: string }) {
    const { seed, kills, store, directory } = options
    this.#random = new SeededRandom(seed)
    this.#kills = kills
    this.#store = store
    this.#performed = join(directory, 'performed.txt')
  }

  async run(): Promise<void> {
    await this.#start(0)
    await this.#start(1)
    const load = this.#enqueueUnderLoad()
    for (let i = 0; i < this.#kills; i++) {
      await wait(this.#random.int(50, 700))
      await this.#killAndRestart(this.#random.int(0, 1))
    }
    this.#isOver = true
    await Promise.all([load, ...this.#starting])
    await this.#untilQuiet()
    await Promise.all(this.#processes.map((process) => ended(process, 'SIGTERM')))
  }

  /** Resolves when the program says that it is at work. */
  async #start(slot: number): Promise<void> {
    const roles = slot === 0 ? 'scheduler,worker' : 'worker'
    const child = spawn(
      process.execPath,
      [program, 'up', '--config', config, '--no-serve', '--roles', roles, '--json'],
      {
        env: { ...process.env, KILL_TEST_STORE: this.#store, KILL_TEST_PERFORMED: this.#performed },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    this.#processes[slot] = child
    child.stdout?.resume()
    await new Promise<void>((resolve, reject) => {
      child.stdout?.once('data', () => resolve())
      child.once('exit', (code, signal) => {
        if (signal === 'SIGKILL') resolve()
        else reject(new Error(`the program ended by itself with ${code ?? signal}`))
      })
    })
  }

  async #killAndRestart(slot: number): Promise<void> {
    await ended(this.#processes[slot] as ChildProcess, 'SIGKILL')
    await wait(this.#random.int(0, 300))
    // Sometimes it is killed while it starts.
    const started = this.#start(slot)
    if (this.#random.chance(0.2)) this.#starting.push(started)
    else await started
  }

  async #enqueueUnderLoad(): Promise<void> {
    const app = createApp({ store: this.#store }, 'code:kill-test-client')
    while (!this.#isOver) {
      try {
        const { id } = await app.enqueue('work', { at: this.#acknowledged.length })
        this.#acknowledged.push(id)
      } catch (error) {
        if (!String(error).includes('no job is named')) throw error
      }
      await wait(5)
    }
    await app.close()
  }

  /** Nothing that was due more than a moment ago is left to do. */
  async #untilQuiet(): Promise<void> {
    const app = createApp({ store: this.#store }, 'code:kill-test')
    for (;;) {
      const unfinished = [
        ...(await app.runs.list({ state: 'pending' })),
        ...(await app.runs.list({ state: 'running' })),
      ]
      const oldest = Math.min(...unfinished.map((run) => run.runAt))
      const isCurrent = unfinished.length < 20 && oldest > Date.now() - 500
      if (unfinished.length === 0 || isCurrent) break
      await wait(100)
    }
    await app.close()
  }

  async judge(): Promise<KillReport> {
    const app = createApp({ store: this.#store }, 'code:kill-test')
    const runs = await allRuns(app)
    const performed = await this.#readPerformed()
    const broken = [
      ...(await checkInstants(app, runs)),
      ...checkAcknowledged(this.#acknowledged, runs),
      ...(await checkPerformed(app, runs, performed)),
    ]
    await app.close()
    const attempts = [...performed.values()].reduce((sum, list) => sum + list.length, 0)
    const repeated = [...performed.values()].filter((list) => list.length > 1).length
    return {
      kills: this.#kills,
      enqueued: this.#acknowledged.length,
      runs: runs.length,
      attempts,
      repeated,
      broken,
    }
  }

  async #readPerformed(): Promise<Map<string, number[]>> {
    const byRun = new Map<string, number[]>()
    for (const line of (await readFile(this.#performed, 'utf8')).split('\n')) {
      const [id = '', attempt = ''] = line.split(' ')
      if (id !== '') byRun.set(id, [...(byRun.get(id) ?? []), Number(attempt)])
    }
    return byRun
  }
}

async function allRuns(app: App): Promise<Run[]> {
  const all: Run[] = []
  for (;;) {
    const page = await app.runs.list({ limit: 1000, before: all.at(-1)?.id })
    all.push(...page)
    if (page.length < 1000) return all
  }
}

/** Every instant of every trigger, computed from nothing but its definition and plain arithmetic, has exactly one run. */
async function checkInstants(app: App, runs: readonly Run[]): Promise<string[]> {
  const broken: string[] = []
  for (const { trigger, definedAt, cursorAt } of await app.triggers.list()) {
    const { schedule } = trigger
    const everyMs = schedule.kind === 'interval' ? schedule.everyMs : 1000
    const anchorAt = schedule.kind === 'interval' ? (schedule.anchorAt ?? NaN) : 0
    const expected: number[] = []
    for (let k = Math.floor((definedAt - anchorAt) / everyMs) + 1; anchorAt + k * everyMs <= cursorAt; k++) {
      expected.push(anchorAt + k * everyMs)
    }
    const found = runs.filter((run) => run.trigger === trigger.name).map((run) => run.dueAt)
    const doubled = found.length - new Set(found).size
    const lost = expected.filter((at) => !found.includes(at))
    const extra = found.filter((at) => !expected.includes(at))
    if (expected.length === 0) broken.push(`${trigger.name} was never due`)
    if (doubled > 0) broken.push(`${trigger.name}: ${doubled} instants have two runs`)
    for (const at of lost) broken.push(`${trigger.name}: ${new Date(at).toISOString()} was lost`)
    for (const at of extra) broken.push(`${trigger.name}: ${new Date(at).toISOString()} was not due`)
  }
  return broken
}

function checkAcknowledged(acknowledged: readonly string[], runs: readonly Run[]): string[] {
  const known = new Set(runs.map((run) => run.id))
  return acknowledged.filter((id) => !known.has(id)).map((id) => `${id} was acknowledged and is gone`)
}

/** What was done was begun; what was begun again had lost its attempt before. */
async function checkPerformed(
  app: App,
  runs: readonly Run[],
  performed: Map<string, number[]>,
): Promise<string[]> {
  const broken: string[] = []
  for (const run of runs) {
    const begun = performed.get(run.id) ?? []
    if (run.state === 'done' && begun.length === 0) broken.push(`${run.id} is done but was never begun`)
    if (run.state === 'failed' || run.state === 'cancelled')
      broken.push(`${run.id} is ${run.state}: ${run.reason}`)
    if (new Set(begun).size !== begun.length)
      broken.push(`an attempt of ${run.id} began twice: ${begun.join(', ')}`)
    if (begun.length < 2) continue
    const attempts = await app.runs.attempts(run.id)
    const repeated = attempts.filter(
      (attempt) => attempt.attempt < Math.max(...begun) && begun.includes(attempt.attempt),
    )
    for (const { attempt, end } of repeated) {
      if (end !== 'lost' && end !== 'released')
        broken.push(`attempt ${attempt} of ${run.id} ended ${end} and was repeated`)
    }
  }
  return broken
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill(signal)
  await exit
}
