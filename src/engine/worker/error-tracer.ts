import { AsyncLocalStorage } from 'node:async_hooks'
import type { Events } from '../events.js'

/** Code of the user that runs in this process: one attempt of a run, or one sensor. */
export interface Traced {
  /** What it is, for messages. */
  readonly title: string
  /** Takes an error of this code that nobody caught. */
  fail(error: unknown): void
}

/**
 * Traces errors that nobody caught back to the code they come from. Node calls the listeners of `unhandledRejection`
 * and `uncaughtException` in the async context of that code. Off until somebody asks: before Node 24 an async context
 * costs every promise of the process about 0.3 µs.
 */
export class ErrorTracer {
  #contexts: AsyncLocalStorage<Traced | undefined> | undefined

  get isOn(): boolean {
    return this.#contexts !== undefined
  }

  /** Traces what is called from now on. */
  trace(): void {
    this.#contexts ??= new AsyncLocalStorage()
  }

  /** Calls a function, whose errors are then traced to the one given, also those of everything that it begins. */
  run<Given, Result>(traced: Traced, act: (given: Given) => Result, given: Given): Result {
    return this.#contexts === undefined ? act(given) : this.#contexts.run(traced, act, given)
  }

  /** Calls a function as code of Rota itself, whoever has caused the call. */
  leave(act: () => void): void {
    if (this.#contexts?.getStore() === undefined) act()
    else this.#contexts.run(undefined, act)
  }

  /** Resolves when errors of code that has just ended, and that nobody caught, have been taken: they come after its result. */
  async taken(): Promise<void> {
    if (this.isOn) await new Promise((resolve) => setImmediate(resolve))
  }

  /** Whose code is being executed. */
  get current(): Traced | undefined {
    return this.#contexts?.getStore()
  }

  /** Hands an error to the run or sensor whose code is being executed; false where it is nobody’s. */
  take(error: unknown): boolean {
    const { current } = this
    current?.fail(error)
    return current !== undefined
  }
}

/** What a sensor does beside its polls: an error of it that nobody caught is only told. */
export function tracedSensor(name: string, events: Events): Traced {
  const title = `sensor ${name}`
  return { title, fail: (error) => events.emit('trouble', { where: title, error, retryInMs: 0 }) }
}
