import type { ErrorTrace } from '../../engine/worker/error-trace.js'
import { parseDuration } from '../../time/duration.js'
import type { App } from '../../app/rota.js'
import { exitCodes } from '../framework/command.js'
import { describeFailure, exitCodeOf } from '../framework/failure.js'
import { stopSignals } from '../framework/until-signal.js'
import { count } from '../framework/print/words.js'
import type { EventPrinter } from '../views/event-printer.js'
import { exitText, UserCode } from '../framework/user-code.js'

/** Ends a started app at the first reason: a signal, a store that cannot be used, or an uncaught error. */
export class Shutdown {
  #end: (code: number) => void = () => undefined
  /** The exit code, once everything has ended. */
  readonly ended = new Promise<number>((resolve) => {
    this.#end = resolve
  })
  readonly #app: App
  readonly #printer: EventPrinter
  readonly #grace: string
  readonly #onHangUp: (() => void) | undefined
  readonly #errors: ErrorTrace
  /** The running attempts of this process, by run. */
  readonly #running = new Map<string, string>()
  readonly #undo: (() => void)[] = []
  readonly #ending = new AbortController()

  constructor(input: {
    readonly app: App
    readonly printer: EventPrinter
    readonly grace: string
    /** Called on SIGHUP; default: it ends the app like SIGTERM. */
    readonly onHangUp?: (() => void) | undefined
  }) {
    this.#app = input.app
    this.#printer = input.printer
    this.#grace = input.grace
    this.#onHangUp = input.onHangUp
    this.#errors = this.#app.traceErrors()
    this.#watchRuns()
    this.#listen()
  }

  /** Aborted as soon as it begins to end. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** Removes the listeners, after a failed start. */
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
    const code = new UserCode({
      errors: this.#errors,
      onError: (error) => this.#onError(error),
      onExit: (exitCode) => this.#onExit(exitCode),
    })
    for (const name of stopSignals) process.on(name, onSignal)
    this.#undo.push(() => {
      for (const name of stopSignals) process.off(name, onSignal)
      code.release()
    })
  }

  #onSignal(name: NodeJS.Signals, number: number): void {
    if (name === 'SIGHUP' && this.#onHangUp !== undefined) {
      if (!this.#ending.signal.aborted) this.#onHangUp()
      return
    }
    if (this.#ending.signal.aborted) {
      const text = `${name} again: stopping immediately; the runs are taken over when their leases expire`
      this.#printer.say(text, 'killed')
      this.abandon()
      process.exit(128 + number)
    }
    const waits = this.#waitingText(this.#grace)
    const text = `${name}: ${waits === '' ? 'stopping' : `${waits}; a second signal stops immediately`}`
    this.#printer.say(text, 'stopping', { signal: name, running: [...this.#running.keys()] })
    this.#begin(exitCodes.ok, this.#grace)
  }

  #waitingText(grace: string): string {
    return this.#running.size === 0 ? '' : `waiting up to ${grace} for ${this.#runningText()}`
  }

  #runningText(): string {
    const names = [...new Set(this.#running.values())].slice(0, 5).join(', ')
    return `${count(this.#running.size, 'run')} (${names})`
  }

  /** The state of the process is unknown after such an error, so running attempts get less time than usual. */
  #onError(error: unknown): void {
    const { code, message } = describeFailure(error)
    const grace = parseDuration(this.#grace) > parseDuration(errorGrace) ? errorGrace : this.#grace
    const waits = this.#waitingText(grace)
    const stops = waits === '' ? 'stopping' : `${waits}, then stopping`
    const text = `an uncaught error that belongs to no run and no sensor: ${message} [${code}]; ${stops}`
    const stack = error instanceof Error ? (error.stack ?? null) : null
    this.#tellOfProcess(text, 'uncaught', { code, message, stack, running: [...this.#running.keys()] })
    this.#begin(exitCodes.internal, grace)
  }

  #onExit(code: number): void {
    const cut =
      this.#running.size === 0 ? '' : `; it interrupted ${this.#runningText()}, which counts as a crash`
    const text = `${exitText(code, this.#errors)}${cut}; exit code ${exitCodes.internal}`
    const calledBy = this.#errors.current ?? null
    this.#tellOfProcess(text, 'exit', { code, calledBy, running: [...this.#running.keys()] })
  }

  #tellOfProcess(text: string, event: string, data: Readonly<Record<string, unknown>>): void {
    this.#printer.tell({ level: 'error', symbol: '!', subject: 'process', text, event, data })
  }

  #begin(code: number, grace: string | number): void {
    if (this.#ending.signal.aborted) return
    this.#ending.abort()
    void this.#stop(code, grace)
  }

  async #stop(code: number, grace: string | number): Promise<void> {
    let result = code
    try {
      await this.#app.stop({ grace })
    } catch (error) {
      result = code === exitCodes.ok ? exitCodeOf(error) : code
      const { code: name, message } = describeFailure(error)
      this.#tellOfProcess(`${message} [${name}]`, 'stop-failed', { code: name, message })
    }
    this.#printer.say('stopped', 'stopped', { exitCode: result })
    this.abandon()
    this.#end(result)
  }
}

/** How long runs may take to finish after an error that comes from none of them. */
const errorGrace = '5s'
