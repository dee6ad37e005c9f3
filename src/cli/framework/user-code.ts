import { exitCodes } from './command.js'

/** Finds the run or sensor that user code belongs to. */
interface Owners {
  /** Passes an error to the run or sensor that it comes from; false if there is none. */
  take(error: unknown): boolean
  /** The code that is running now, if known. */
  readonly current: string | undefined
}

/** How to handle uncaught errors and exits of user code. */
interface UserCodeOptions {
  readonly errors: Pick<Owners, 'take'>
  /** Called for an uncaught error that belongs to no run and no sensor. */
  readonly onError: (error: unknown) => void
  /** Called when user code calls `process.exit`; output must be written synchronously. */
  readonly onExit: (code: number) => void
}

/**
 * Watches user code in this process. An uncaught error is assigned to the run or sensor that it comes from. A call of
 * `process.exit` cannot be stopped, but it must not look like a success: the exit code becomes 70.
 */
export class UserCode {
  readonly #options: UserCodeOptions

  constructor(options: UserCodeOptions) {
    this.#options = options
    process.on('unhandledRejection', this.#onError)
    process.on('uncaughtException', this.#onError)
    process.on('exit', this.#onExit)
  }

  /** Removes the listeners. */
  release(): void {
    process.off('unhandledRejection', this.#onError)
    process.off('uncaughtException', this.#onError)
    this.allowExit()
  }

  /** The process may end from now on. */
  allowExit(): void {
    process.off('exit', this.#onExit)
  }

  readonly #onError = (error: unknown): void => {
    if (!this.#options.errors.take(error)) this.#options.onError(error)
  }

  readonly #onExit = (code: number): void => {
    process.exitCode = exitCodes.internal
    this.#options.onExit(code)
  }
}

/** Which code called `process.exit`, as the beginning of a sentence. */
export function exitText(code: number, { current }: Pick<Owners, 'current'>): string {
  return `process.exit(${code}) was called${current === undefined ? '' : ` by ${current}`}`
}
