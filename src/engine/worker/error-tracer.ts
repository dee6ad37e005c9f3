import { AsyncLocalStorage } from 'node:async_hooks'
import type { Events } from '../events.js'

/** User code in this process: an attempt of a run, or a sensor. */
export interface Traced {
  /** Its name in messages. */
  readonly title: string
  /** Handles an uncaught error of this code. */
  fail(error: unknown): void
}

/**
 * Traces uncaught errors to the code that they come from. Node calls the listeners of `unhandledRejection` and
 * `uncaughtException` in the async context of that code. Off by default: before Node 24 an async context costs each
 * promise of the process about 0.3 µs.
 */
export class ErrorTracer {
  #contexts: AsyncLocalStorage<Traced | undefined> | undefined

  get isOn(): boolean {
    return this.#contexts !== undefined
  }

  /** Traces calls from now on. */
  trace(): void {
    this.#contexts ??= new AsyncLocalStorage()
  }

  /** Calls a function; its errors, and those of everything that it starts, are traced to the given code. */
  run<Given, Result>(traced: Traced, act: (given: Given) => Result, given: Given): Result {
    return this.#contexts === undefined ? act(given) : this.#contexts.run(traced, act, given)
  }

  /** Calls a function as code of Rota, even if user code caused the call. */
  leave(act: () => void): void {
    if (this.#contexts?.getStore() === undefined) act()
    else this.#contexts.run(undefined, act)
  }

  /** Resolves when uncaught errors of code that has just ended were handled: they come after its result. */
  async taken(): Promise<void> {
    if (this.isOn) await new Promise((resolve) => setImmediate(resolve))
  }

  /** The code that is running now. */
  get current(): Traced | undefined {
    return this.#contexts?.getStore()
  }

  /** Passes an error to the run or sensor whose code is running; false if there is none. */
  take(error: unknown): boolean {
    const { current } = this
    current?.fail(error)
    return current !== undefined
  }
}

/** The code of a sensor outside its polls: its uncaught errors are only reported. */
export function tracedSensor(name: string, events: Events): Traced {
  const title = `sensor ${name}`
  return { title, fail: (error) => events.emit('trouble', { where: title, error, retryInMs: 0 }) }
}
