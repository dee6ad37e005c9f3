import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { Clock } from '../time/clock.js'
import { guardGroup, readyGuard } from './group-guard.js'
import { isGroupRunning, signalGroup } from './process-group.js'

/** A command to start: its arguments, its whole environment and its directory. */
export interface ProcessSpec {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
  /** Receives messages of the process; with it, descriptor 3 is an IPC channel and 4 closes when this process ends. */
  readonly onMessage?: ((message: unknown) => void) | undefined
}

/** How a command ended: with an exit code, or by a signal. */
export interface ProcessEnd {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

/** How long a process tree may take to end after SIGTERM. */
export const KILL_GRACE_MS = 5000
const checkEveryMs = 50
const streams = ['ignore', 'pipe', 'pipe'] as const

/**
 * A command with everything it started, as one process group. The tree ends with the command: remaining processes get
 * SIGTERM, and SIGKILL after the grace period, so that no process outlives its run.
 *
 * running → (the command exits, or `stop`) → ending: SIGTERM sent, grace period → (all ended, or period over) → SIGKILL
 * sent, pipes closed → ended. Only a process that left the group survives.
 */
export class ProcessTree {
  /** Resolves when the command has ended and its pipes are closed; rejects if it could not be started. */
  readonly ended: Promise<ProcessEnd>
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  readonly #clock: Clock
  #resolve: (end: ProcessEnd) => void = () => undefined
  #reject: (error: Error) => void = () => undefined
  #end: ProcessEnd | undefined
  #arePipesClosed = false
  #isStopped = false
  #isKilled = false
  #unguardGroup: () => void = () => undefined
  #cancelGrace: (() => void) | undefined
  #cancelCheck: (() => void) | undefined

  constructor(spec: ProcessSpec, clock: Clock) {
    this.#clock = clock
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    const [program = '', ...words] = spec.argv
    readyGuard()
    this.#child = spawn(program, words, {
      env: { ...spec.env },
      cwd: spec.cwd,
      detached: true,
      shell: false,
      stdio: spec.onMessage === undefined ? [...streams] : [...streams, 'ipc', 'pipe'],
    }) as ChildProcessByStdio<null, Readable, Readable>
    if (spec.onMessage !== undefined) this.#child.on('message', spec.onMessage)
    if (this.#child.pid !== undefined) this.#unguardGroup = guardGroup(this.#child.pid)
    this.#child.once('error', (error) => this.#notStarted(error))
    this.#child.once('exit', (exitCode, signal) => this.#exited({ exitCode, signal }))
    this.#child.once('close', () => this.#pipesClosed())
  }

  get stdout(): Readable {
    return this.#child.stdout
  }

  get stderr(): Readable {
    return this.#child.stderr
  }

  /** Sends a message over the channel, unless the process has ended. */
  send(message: object): void {
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }

  /** Asks the whole tree to end, and kills it after the grace period. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#beginEnding()
    this.#endIfGone()
  }

  /** Kills the whole tree immediately. */
  kill(): void {
    this.#isStopped = true
    this.#cancelGrace?.()
    this.#kill()
  }

  #notStarted(error: Error): void {
    if (this.#child.pid === undefined) this.#reject(error)
  }

  #exited(end: ProcessEnd): void {
    this.#end = end
    if (this.#isKilled) this.#closePipes()
    else this.#beginEnding()
    this.#endIfGone()
  }

  #pipesClosed(): void {
    this.#arePipesClosed = true
    this.#endIfGone()
  }

  #beginEnding(): void {
    this.#signalGroup('SIGTERM')
    this.#cancelGrace ??= this.#clock.timer(KILL_GRACE_MS, () => this.#kill())
  }

  #kill(): void {
    this.#isKilled = true
    this.#signalGroup('SIGKILL')
    if (this.#end !== undefined) this.#closePipes()
    this.#endIfGone()
  }

  /** A process outside the group may keep the other ends open forever. */
  #closePipes(): void {
    this.#child.stdout.destroy()
    this.#child.stderr.destroy()
  }

  #endIfGone(): void {
    if (this.#end === undefined || !this.#arePipesClosed) return
    // A stopped tree gets its grace period even if its pipes are closed; there is no event for an empty group.
    if (this.#isStopped && !this.#isKilled && this.#isGroupRunning()) {
      this.#cancelCheck?.()
      this.#cancelCheck = this.#clock.timer(checkEveryMs, () => this.#endIfGone())
      return
    }
    this.#cancelGrace?.()
    this.#cancelCheck?.()
    this.#signalGroup('SIGKILL')
    this.#unguardGroup()
    this.#resolve(this.#end)
  }

  #signalGroup(signal: NodeJS.Signals): void {
    if (this.#child.pid !== undefined) signalGroup(this.#child.pid, signal)
  }

  #isGroupRunning(): boolean {
    return this.#child.pid !== undefined && isGroupRunning(this.#child.pid)
  }
}
