import type { Rota } from '../app/rota.js'
import { systemClock } from '../app/times.js'
import { exitCodes } from './command.js'
import { describeFailure, exitCodeOf } from './failure.js'
import { stopSignals } from './follow.js'
import { count } from './in-words.js'
import type { PrintStream } from './print-stream.js'
import type { Teller } from './teller.js'

/** Ends a started app for whatever reason comes first: a signal, a store that cannot be used, an error nobody caught. */
export class Shutdown {
  /** The exit code, once everything has ended. */
  readonly ended: Promise<number>
  readonly #app: Rota
  readonly #teller: Teller
  readonly #grace: string
  readonly #stdout: PrintStream
  /** What runs here, by run. */
  readonly #running = new Map<string, string>()
  readonly #end: (code: number) => void
  readonly #undo: (() => void)[] = []
  #isEnding = false

  constructor(input: {
    readonly app: Rota
    readonly teller: Teller
    readonly grace: string
    readonly stdout: PrintStream
  }) {
    this.#app = input.app
    this.#teller = input.teller
    this.#grace = input.grace
    this.#stdout = input.stdout
    const { promise, resolve } = promiseWithResolve()
    this.ended = promise
    this.#end = resolve
    this.#watchRuns()
    this.#listen()
  }

  /** Leaves the process to itself: for an app that could not be started. */
  abandon(): void {
    for (const undo of this.#undo) undo()
  }

  #watchRuns(): void {
    const app = this.#app
    this.#undo.push(
      app.on('run:started', ({ run, trigger, job }) => this.#running.set(run, trigger ?? job)),
      app.on('run:ended', ({ run }) => this.#running.delete(run)),
      app.on('worker:drained', () => this.#begin(exitCodes.ok, this.#grace)),
      app.on('fatal', ({ error }) => this.#begin(exitCodeOf(error), 0)),
    )
  }

  #listen(): void {
    const onSignal = (name: NodeJS.Signals, number: number): void => this.#onSignal(name, number)
    const onError = (error: unknown): void => this.#onError(error)
    for (const name of stopSignals) process.on(name, onSignal)
    process.on('unhandledRejection', onError)
    process.on('uncaughtException', onError)
    this.#undo.push(() => {
      for (const name of stopSignals) process.off(name, onSignal)
      process.off('unhandledRejection', onError)
      process.off('uncaughtException', onError)
    })
  }

  #onSignal(name: NodeJS.Signals, number: number): void {
    if (this.#isEnding) {
      this.#teller.say(
        `${name} again: stops at once; what ran is taken over when its lease is over`,
        'killed',
      )
      process.exit(128 + number)
    }
    this.#teller.say(`${name}: ${this.#waitingText()}`, 'stopping', {
      signal: name,
      running: [...this.#running.keys()],
    })
    this.#begin(exitCodes.ok, this.#grace)
  }

  #waitingText(): string {
    if (this.#running.size === 0) return 'stops'
    const names = [...new Set(this.#running.values())].slice(0, 5).join(', ')
    return `waits up to ${this.#grace} for ${count(this.#running.size, 'run')} (${names}); once more stops at once`
  }

  #onError(error: unknown): void {
    const { code, message } = describeFailure(error)
    const text = `an error nobody caught: ${message} [${code}]; stops`
    const data = { code, message, stack: error instanceof Error ? (error.stack ?? null) : null }
    this.#teller.tell({ level: 'error', symbol: '!', subject: 'process', text, event: 'uncaught', data })
    this.#begin(exitCodes.internal, this.#grace)
  }

  #begin(code: number, grace: string | number): void {
    if (this.#isEnding) return
    this.#isEnding = true
    void this.#stop(code, grace)
  }

  async #stop(code: number, grace: string | number): Promise<void> {
    let result = code
    try {
      await this.#app.stop({ grace })
    } catch (error) {
      result = code === exitCodes.ok ? exitCodeOf(error) : code
      const { code: name, message } = describeFailure(error)
      const data = { code: name, message }
      this.#teller.tell({
        level: 'error',
        symbol: '!',
        subject: 'process',
        text: `${message} [${name}]`,
        event: 'stop-failed',
        data,
      })
    }
    this.#teller.say('stopped', 'stopped', { exitCode: result })
    this.abandon()
    this.#end(result)
    const late = new AbortController()
    systemClock.timer(lastWordsMs, () => late.abort(), { isIdle: true })
    await this.#stdout.settled(late.signal)
    // A function that ignored its signal would keep the process alive for as long as it likes.
    process.exit(result)
  }
}

/** How long a reader may take to read what was said last; one that reads nothing must not keep the process. */
const lastWordsMs = 2000

function promiseWithResolve(): { promise: Promise<number>; resolve: (code: number) => void } {
  let resolve: (code: number) => void = () => undefined
  const promise = new Promise<number>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
