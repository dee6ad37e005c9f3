import { traceErrors, type ErrorTrace } from '../../../engine/worker/error-trace.js'
import { ErrorTracer } from '../../../engine/worker/error-tracer.js'
import { systemClock } from '../../../time/clock.js'
import { type Context, exitCodes } from '../../../cli/framework/command.js'
import { describeFailure } from '../../../cli/framework/failure.js'
import { exitText, UserCode } from '../../../cli/framework/user-code.js'

/** How long the release of a run may take after an error that belongs to no run. */
const handBackMs = 10_000

/** Assigns uncaught errors while `rota work` performs a run with functions of the config. */
export class WorkGuard {
  readonly tracer = new ErrorTracer()
  readonly #out: Context['out']
  readonly #errors: ErrorTrace
  readonly #code: UserCode
  readonly #failing = new AbortController()
  #run: string | undefined
  #isOver = false

  constructor({ out }: Context) {
    this.#out = out
    this.#errors = traceErrors(this.tracer)
    this.#code = new UserCode({
      errors: this.#errors,
      onError: (error) => this.#onError(error),
      onExit: (code) => this.#onExit(code),
    })
  }

  /** Aborts at an error that belongs to no run: the current run is then released. */
  get failing(): AbortSignal {
    return this.#failing.signal
  }

  /** Sets the run that is performed. */
  readonly onRun = (run: string): void => {
    this.#run = run
  }

  /** Called with errors that change nothing. */
  readonly onTrouble = (text: string): void => this.#out.note(`warning: ${text}`)

  /** The work is done, and the process may end; code that the functions left running may still fail. */
  end(): void {
    this.#run = undefined
    this.#isOver = true
    this.#code.allowExit()
  }

  #onError(error: unknown): void {
    const { code, message } = describeFailure(error)
    const waits =
      this.#run === undefined ? '' : `; waiting up to ${handBackMs / 1000}s to release ${this.#run}`
    this.#out.note(`error: an uncaught error of no run: ${message} [${code}]${waits}`)
    if (this.#isOver) this.#exit()
    if (this.failing.aborted) return
    this.#failing.abort()
    systemClock.timer(handBackMs, () => this.#exit(), { isIdle: true })
  }

  #exit(): never {
    this.#code.allowExit()
    process.exit(exitCodes.internal)
  }

  #onExit(code: number): void {
    const cut = this.#run === undefined ? '' : `; it interrupted ${this.#run}, which counts as a crash`
    this.#out.note(`error: ${exitText(code, this.#errors)}${cut}; exit code ${exitCodes.internal}`)
  }
}
