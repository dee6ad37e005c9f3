import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { SeededRandom } from '../../src/testing/random.js'
import { ended } from '../fixtures/scheduler-process.js'

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** Programs on one store that are killed and started again, each in its own directory. */
export class KilledPrograms {
  readonly #config: string
  readonly #env: Readonly<Record<string, string>>
  readonly #random: SeededRandom
  /** What each of them does. */
  readonly #roles: readonly string[]
  readonly #children: ChildProcess[] = []
  readonly #starting: Promise<void>[] = []
  kills = 0

  constructor(options: {
    readonly config: string
    readonly env: Readonly<Record<string, string>>
    readonly random: SeededRandom
    readonly roles: readonly string[]
  }) {
    this.#config = options.config
    this.#env = options.env
    this.#random = options.random
    this.#roles = options.roles
  }

  /** Starts all of them. */
  async start(): Promise<void> {
    await Promise.all(this.#roles.map((_, place) => this.#start(place)))
  }

  /** Kills one with kill -9 and starts it again; sometimes the next kill comes while it starts. */
  async killAndRestart(place = this.#random.int(0, this.#roles.length - 1)): Promise<void> {
    this.kills += 1
    await ended(this.#children[place] as ChildProcess, 'SIGKILL')
    await wait(this.#random.int(0, 300))
    const started = this.#start(place)
    if (this.#random.chance(0.2)) this.#starting.push(started)
    else await started
  }

  /** Resolves when all of them report that they have started. */
  async allStarted(): Promise<void> {
    await Promise.all(this.#starting)
  }

  /** Stops all of them cleanly. */
  async stop(): Promise<void> {
    await Promise.all(this.#children.map((child) => ended(child, 'SIGTERM')))
  }

  async #start(place: number): Promise<void> {
    const roles = this.#roles[place] as string
    const words = [program, 'up', '--config', this.#config, '--no-serve', '--roles', roles, '--json']
    const child = spawn(process.execPath, words, {
      env: { ...process.env, ...this.#env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#children[place] = child
    child.stdout?.resume()
    await new Promise<void>((resolve, reject) => {
      child.stdout?.once('data', () => resolve())
      child.once('exit', (code, signal) => {
        if (signal === 'SIGKILL') resolve()
        else reject(new Error(`the program ended by itself with ${code ?? signal}`))
      })
    })
  }
}
