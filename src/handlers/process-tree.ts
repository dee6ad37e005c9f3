import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { Clock } from '../time/clock.js'
import { guardGroup, readyGuard } from './group-guard.js'
import { isGroupRunning, signalGroup } from './process-group.js'

/** A command to start: its words, its whole environment and its directory. */
export interface ProcessSpec {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
  /** Hears what the process sends; with it, descriptor 3 is a channel of Node.js and 4 closes when this process is gone. */
  readonly hear?: ((message: unknown) => void) | undefined
}

/** How a command ended: by itself with a code, or by a signal. */
export interface ProcessEnd {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

/** How long a tree may take to end after it was asked to. */
export const KILL_GRACE_MS = 5000
const lookAgainMs = 50
const streams = ['ignore', 'pipe', 'pipe'] as const

/**
 * A command with everything it started, as one process group. The tree ends with the command: what the command leaves
 * behind is asked to stop, and killed when the grace is over, so that no run outlives its record.
 *
 * running → (the command exits, or `stop`) → ending: SIGTERM sent, grace running → (all gone, or grace over) → SIGKILL
 * sent, pipes closed → ended. Only a process that left the group by itself escapes.
 */
export class ProcessTree {
  /** Resolves when the command is gone and its pipes are closed; rejects if it could not be started. */
  readonly ended: Promise<ProcessEnd>
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  readonly #clock: Clock
  #resolve: (end: ProcessEnd) => void = () => undefined
  #reject: (error: Error) => void = () => undefined
  #end: ProcessEnd | undefined
  #arePipesClosed = false
  #isStopped = false
  #isKilled = false
  #forgetGroup: () => void = () => undefined
  #cancelGrace: (() => void) | undefined
  #cancelLook: (() => void) | undefined

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
      stdio: spec.hear === undefined ? [...streams] : [...streams, 'ipc', 'pipe'],
    }) as ChildProcessByStdio<null, Readable, Readable>
    if (spec.hear !== undefined) this.#child.on('message', spec.hear)
    if (this.#child.pid !== undefined) this.#forgetGroup = guardGroup(this.#child.pid)
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

  /** Says something over the channel; to a process that is gone, nothing. */
  send(message: object): void {
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }

  /** Asks the whole tree to end, and kills it when the grace is over. */
  stop(): void {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#beginEnding()
    this.#endIfGone()
  }

  /** Ends the whole tree at once. */
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

  /** A process outside the group may hold the other ends open for ever. */
  #closePipes(): void {
    this.#child.stdout.destroy()
    this.#child.stderr.destroy()
  }

  #endIfGone(): void {
    if (this.#end === undefined || !this.#arePipesClosed) return
    // A tree that was stopped gets its grace even where its pipes are closed; nothing tells when a group is empty.
    if (this.#isStopped && !this.#isKilled && this.#isGroupRunning()) {
      this.#cancelLook?.()
      this.#cancelLook = this.#clock.timer(lookAgainMs, () => this.#endIfGone())
      return
    }
    this.#cancelGrace?.()
    this.#cancelLook?.()
    this.#signalGroup('SIGKILL')
    this.#forgetGroup()
    this.#resolve(this.#end)
  }

  #signalGroup(signal: NodeJS.Signals): void {
    if (this.#child.pid !== undefined) signalGroup(this.#child.pid, signal)
  }

  #isGroupRunning(): boolean {
    return this.#child.pid !== undefined && isGroupRunning(this.#child.pid)
  }
}
