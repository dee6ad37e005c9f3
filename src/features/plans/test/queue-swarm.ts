import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SeededRandom } from '../../../testing/random.js'

const program = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url))

/** The result of a swarm. */
export interface SwarmReport {
  readonly processes: number
  readonly kills: number
  /** Processes that found the queue too busy. */
  readonly busy: number
  readonly done: number
  /** Quarantined runs: their workers were killed too often, which is expected here. */
  readonly setAside: number
  readonly lostAttempts: number
  readonly repeats: number
  /** All broken guarantees, one sentence each. */
  readonly broken: readonly string[]
}

/** Runs many real schedulers and workers on one queue directory, kills some of them, and checks the result. */
export async function swarm(options: SwarmOptions): Promise<SwarmReport> {
  const hive = new Swarm(options)
  await hive.run()
  return hive.judge()
}

interface SwarmOptions {
  readonly seed: number
  readonly directory: string
  readonly entries: number
  readonly schedulers: number
  readonly workers: number
  /** The share of processes that are killed. */
  readonly killed: number
  /** When the last of those is killed, after its start: the more processes at once, the slower each of them. */
  readonly killedWithinMs: number
  /** When the last entry falls due. */
  readonly dueWithinSeconds: number
  readonly lease: string
}

/** The pipeline of a run: it reports its start, waits a moment, and reports its end. */
const effect = 'echo "$ROTA_RUN_ID $ROTA_ATTEMPT $(date +%s%3N)" >> effects.txt; sleep 0.1'

class Swarm {
  readonly #options: SwarmOptions
  readonly #random: SeededRandom
  #processes = 0
  #kills = 0
  /** Processes that waited for the queue too long, and exited without having done anything. */
  #busy = 0
  readonly #trouble: string[] = []

  constructor(options: SwarmOptions) {
    this.#options = options
    this.#random = new SeededRandom(options.seed)
    const { directory } = options
    mkdirSync(directory, { recursive: true })
    const step = JSON.stringify({ id: 'effect', run: ['sh', '-c', effect] })
    writeFileSync(join(directory, 'effect.yml'), `steps: [${step}]\n`)
    writeFileSync(join(directory, 'effects.txt'), '')
  }

  async run(): Promise<void> {
    const { schedulers, workers } = this.#options
    this.#writePlan([])
    // A first pass, so that all later ones look back to it.
    await this.#process(this.#schedule, 0)
    this.#writePlan(this.#entries())
    const lanes = [
      ...Array.from({ length: schedulers }, () => this.#lane(this.#schedule, () => this.#isEnqueued)),
      ...Array.from({ length: workers }, () => this.#lane(this.#work, () => this.#isOver)),
    ]
    await Promise.all(lanes)
  }

  #writePlan(entries: readonly string[]): void {
    const list = entries.length === 0 ? ' []' : `\n${entries.join('\n')}`
    const text = `schema_version: v1\ntimezone: UTC\nentries:${list}\n`
    writeFileSync(join(this.#options.directory, 'plan.yaml'), text)
  }

  /** Due from now to some seconds in the future, so that some have to be waited for. */
  #entries(): string[] {
    return Array.from({ length: this.#options.entries }, (_, index) => {
      const dueAt = Date.now() + this.#random.int(1, this.#options.dueWithinSeconds) * 1000
      const at = `${new Date(dueAt).toISOString().slice(0, 19)}Z`
      return `  - { publish_at: "${at}", pipeline_path: effect.yml, run_id_prefix: e${index} }`
    })
  }

  /** One process after the other, until there is nothing left to do. */
  async #lane(args: readonly string[], isOver: () => boolean): Promise<void> {
    do await this.#process(args, this.#options.killed)
    while (!isOver())
  }

  readonly #schedule = ['schedule', '--plan', 'plan.yaml', '--queue-dir', 'queue']

  get #work(): readonly string[] {
    return ['work', '--queue-dir', 'queue', '--lease', this.#options.lease]
  }

  /** Whether every entry has become a run; after that no pass finds anything. */
  get #isEnqueued(): boolean {
    return this.#files().length >= this.#options.entries
  }

  get #isOver(): boolean {
    return this.#files('done', 'failed').length >= this.#options.entries
  }

  #files(...folders: string[]): string[] {
    const all = folders.length === 0 ? ['pending', 'running', 'done', 'failed'] : folders
    return all.flatMap((folder) => {
      try {
        return readdirSync(join(this.#options.directory, 'queue', folder))
      } catch {
        return []
      }
    })
  }

  async #process(args: readonly string[], killed: number): Promise<void> {
    const { directory, killedWithinMs } = this.#options
    this.#processes += 1
    const child = spawn(process.execPath, [program, ...args], {
      cwd: directory,
      env: { PATH: process.env['PATH'], SCHEDULER_ENABLED: '1', WORKER_ENABLED: '1' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    const killAfterMs = this.#random.chance(killed) ? this.#random.int(100, killedWithinMs) : undefined
    const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      child.once('close', (...how) => resolve(how))
    })
    clearTimeout(timer)
    if (signal === 'SIGKILL') this.#kills += 1
    else if (errors.includes('STORE_BUSY')) this.#busy += 1
    // Another worker took over its run, because the machine was too slow for its lease.
    else if (code !== 0 && !(code === 1 && args[0] === 'work'))
      this.#trouble.push(`rota ${args[0]} ended with ${code ?? signal}: ${errors.trim()}`)
  }

  judge(): SwarmReport {
    const { entries, directory } = this.#options
    const runs = this.#files('done', 'failed').map((name) => {
      const folder = this.#files('done').includes(name) ? 'done' : 'failed'
      return JSON.parse(readFileSync(join(directory, 'queue', folder, name), 'utf8')) as RunFile
    })
    const effects = this.#effects()
    const broken = [...this.#trouble]
    if (runs.length !== entries) broken.push(`${entries} entries became ${runs.length} ended runs`)
    for (const folder of ['pending', 'running'] as const) {
      for (const name of this.#files(folder)) broken.push(`${folder}/${name} was left behind`)
    }
    const ids = new Set(runs.map((run) => run.run_id))
    if (ids.size !== runs.length) broken.push('an entry has two runs')
    for (const run of runs) broken.push(...faultsOf(run, effects.get(run.rota.id) ?? []))
    const lost = runs.flatMap((run) => lostOf(run))
    return {
      processes: this.#processes,
      kills: this.#kills,
      busy: this.#busy,
      done: this.#files('done').length,
      setAside: runs.filter((run) => run.status === 'failed').length,
      lostAttempts: lost.length,
      repeats: [...effects.values()].reduce((sum, all) => sum + all.length - 1, 0),
      broken,
    }
  }

  #effects(): Map<string, Effect[]> {
    const byRun = new Map<string, Effect[]>()
    for (const line of readFileSync(join(this.#options.directory, 'effects.txt'), 'utf8').split('\n')) {
      const [id = '', attempt = '', atMs = ''] = line.split(' ')
      if (id === '') continue
      byRun.set(id, [...(byRun.get(id) ?? []), { attempt: Number(attempt), atMs: Number(atMs) }])
    }
    return byRun
  }
}

interface Effect {
  readonly attempt: number
  readonly atMs: number
}

interface RunFile {
  readonly run_id: string
  readonly status: 'done' | 'failed'
  readonly attempts: number
  readonly scheduled_for: string
  readonly last_error: { readonly message: string } | null
  readonly rota: {
    readonly id: string
    readonly reason?: string
    readonly tries: readonly { readonly attempt: number; readonly end: string }[]
  }
}

function faultsOf(run: RunFile, effects: readonly Effect[]): string[] {
  const broken: string[] = []
  const begun = effects.map(({ attempt }) => attempt)
  const lost = new Set(lostOf(run))
  const repeated = begun.filter((attempt) => attempt < Math.max(...begun))
  if (run.status === 'done' && begun.length === 0) broken.push(`${run.run_id} is done and did nothing`)
  if (run.status === 'failed' && run.rota.reason !== 'quarantined')
    broken.push(`${run.run_id} failed: ${run.last_error?.message}`)
  if (new Set(begun).size !== begun.length)
    broken.push(`an attempt of ${run.run_id} began twice: ${begun.join(', ')}`)
  for (const attempt of repeated.filter((one) => !lost.has(one)))
    broken.push(`attempt ${attempt} of ${run.run_id} was not lost, and was repeated`)
  if (run.rota.tries.some(({ attempt }, index) => attempt !== index + 1))
    broken.push(`the attempts of ${run.run_id} have a gap`)
  for (const { atMs } of effects) {
    if (atMs < Date.parse(run.scheduled_for)) broken.push(`${run.run_id} ran before ${run.scheduled_for}`)
  }
  return broken
}

/** Attempts that other workers took over, including those whose workers were still alive. */
function lostOf(run: RunFile): number[] {
  const isLost = ({ end }: { end: string }): boolean => end === 'lost' || end === 'released'
  return run.rota.tries.filter(isLost).map(({ attempt }) => attempt)
}
