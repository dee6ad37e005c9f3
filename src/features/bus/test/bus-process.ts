import { fork, type ChildProcess } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { OfferedRun } from '../../../engine/events.js'

/** What a process of the bus reports. */
export type Told = { readonly pid: number } & (
  | { readonly event: 'ready' | 'unexpected' }
  | { readonly event: 'busy'; readonly run: string }
  | { readonly event: 'offered'; readonly offer: OfferedRun }
  | {
      readonly event: 'taken'
      readonly run: string
      readonly attempt: number
      readonly task: string
      readonly at: number
    }
)

/** What a process does: it only schedules, works with a single slot that stays occupied, or takes offered runs. */
export interface BusRole {
  readonly role: 'scheduler' | 'busy' | 'subscriber'
  /** Whether it has a slow poll; default: true. */
  readonly isPolling?: boolean
  /** Whether it never ends what it takes. */
  readonly isStuck?: boolean
}

/** Real processes on one store, and everything that they have reported. */
export class BusProcesses {
  readonly told: Told[] = []
  readonly #store: string
  readonly #children = new Map<number, ChildProcess>()
  readonly #news = new EventEmitter()

  constructor(store: string) {
    this.#store = store
  }

  /** Starts one, if given on another address of the same store; resolves with its id when it has started. */
  async start(role: BusRole, store = this.#store): Promise<number> {
    const child = fork(program, [JSON.stringify({ store, ...role })], { execArgv: [] })
    const pid = child.pid as number
    this.#children.set(pid, child)
    child.on('message', (message) => {
      this.told.push(message as Told)
      this.#news.emit('told')
    })
    await this.until(() => this.told.some((one) => one.event === 'ready' && one.pid === pid))
    return pid
  }

  /** The runs that were taken, and by whom. */
  get taken(): Extract<Told, { event: 'taken' }>[] {
    return this.told.filter((one) => one.event === 'taken')
  }

  /** Resolves as soon as their reports make the condition true. */
  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await new Promise((resolve) => this.#news.once('told', resolve))
  }

  /** Kills one as a power cut would, or all. */
  async kill(...pids: readonly number[]): Promise<void> {
    const children = pids.length === 0 ? [...this.#children.keys()] : pids
    await Promise.all(children.map((pid) => this.#kill(pid)))
  }

  async #kill(pid: number): Promise<void> {
    const child = this.#children.get(pid)
    this.#children.delete(pid)
    if (child === undefined || child.exitCode !== null) return
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve())
      child.kill('SIGKILL')
    })
  }
}

const program = fileURLToPath(new URL('./bus-process.mjs', import.meta.url))
