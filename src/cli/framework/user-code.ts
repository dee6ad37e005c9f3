import { exitCodes } from './command.js'

/** Knows which run or sensor code of the user belongs to. */
interface Owners {
  /** Hands an error to the run or sensor it comes from; false where it is of none. */
  take(error: unknown): boolean
  /** What runs now, where that is known. */
  readonly current: string | undefined
}

/** What code of the user may do to the process that runs it. */
interface UserCodeOptions {
  readonly errors: Pick<Owners, 'take'>
  /** An error that nobody caught, of no run and no sensor. */
  readonly onError: (error: unknown) => void
  /** Something called `process.exit` with this code; what is printed now must be printed at once. */
  readonly onExit: (code: number) => void
}

/**
 * Watches over code of the user in this process. An error that nobody caught goes to the run or sensor it comes from. A
 * call of `process.exit` cannot be stopped, but it must not look like a success: the exit code becomes 70.
 */
export class UserCode {
  readonly #options: UserCodeOptions

  constructor(options: UserCodeOptions) {
    this.#options = options
    process.on('unhandledRejection', this.#onError)
    process.on('uncaughtException', this.#onError)
    process.on('exit', this.#onExit)
  }

  /** Leaves the process to itself. */
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

/** Who called `process.exit`, as the beginning of a sentence. */
export function exitText(code: number, { current }: Pick<Owners, 'current'>): string {
  return `process.exit(${code}) was called${current === undefined ? '' : ` by ${current}`}`
}
