import { spawn, type ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const config = fileURLToPath(new URL('./rota.config.mjs', import.meta.url))

/** How a host is started. */
export interface HostOptions {
  readonly roles: string
  readonly store: string
  readonly diary: string
  /** Where the one-shots begin. */
  readonly fromAt: number
  /** The directory of its witness files. */
  readonly state: string
  /** The command before the program, which puts it into a network namespace. */
  readonly within?: readonly string[]
  readonly arguments?: readonly string[]
}

/** One `rota up`, started again whenever it ends, as a supervisor would. */
export class Host {
  readonly #options: HostOptions
  #child: ChildProcess | undefined
  #isWanted = false
  #running: Promise<void> = Promise.resolve()
  /** How often it has exited without being stopped, and its last output. */
  readonly ends: string[] = []

  constructor(options: HostOptions) {
    this.#options = options
  }

  /** Resolves when it reports for the first time that it has started. */
  async start(): Promise<void> {
    this.#isWanted = true
    await new Promise<void>((resolve, reject) => {
      this.#running = this.#run(resolve)
      void this.#running.then(() => reject(new Error(`it did not start: ${this.ends.at(-1)}`)))
    })
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Sends a signal to the program, if it is running. */
  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name)
  }

  /** Stops it and does not restart it. */
  async stop(): Promise<void> {
    this.#isWanted = false
    this.signal('SIGKILL')
    await this.#running
  }

  async #run(onWork: () => void): Promise<void> {
    const { roles, store, diary, fromAt, state, within = [], arguments: more = [] } = this.#options
    const words = [program, 'up', '--config', config, '--no-serve', '--roles', roles, '--json', ...more]
    const [command = process.execPath, ...rest] = [...within, process.execPath, ...words]
    const own = { FAULTS_STORE: store, FAULTS_DIARY: diary, FAULTS_FROM: String(fromAt) }
    while (this.#isWanted) {
      const child = spawn(command, rest, {
        env: { ...process.env, ...own, XDG_STATE_HOME: state },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      this.#child = child
      let said = ''
      let hasWorked = false
      const hear = (data: Buffer): void => {
        said = `${said}${data.toString()}`.slice(-2000)
        if (said.includes('"error":')) return
        hasWorked = true
        onWork()
      }
      child.stdout?.on('data', hear)
      child.stderr?.on('data', hear)
      const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
        child.once('close', (...end) => resolve(end))
      })
      if (this.#isWanted && signal !== 'SIGKILL' && hasWorked)
        this.ends.push(`${code ?? signal}: ${said.trim()}`)
      if (this.#isWanted) await wait(200)
    }
  }
}
