import type { Clock } from '../time/clock.js'
import type { Instant } from '../time/instant.js'
import { fractionOf } from '../model/identity.js'
import { RotaError } from '../model/errors.js'
import type { Events } from './events.js'

/** When a loop looks again: when the wall clock shows an instant, or after some time; never later than the slow poll. */
export type Look = { readonly at: Instant } | { readonly afterMs: number }

/** What a loop is made of. */
export interface LoopOptions {
  readonly name: string
  readonly clock: Clock
  readonly events: Events
  /** How long it sleeps at most: the slow poll behind all hints. */
  readonly pollMs: number
  /** Does what there is to do and says when to look again. */
  readonly step: () => Promise<Look>
}

/** Repeats a step: until it says when to look again, until it is woken, or until the slow poll. */
export class Loop {
  readonly #options: LoopOptions
  #sleep = new AbortController()
  #woken = false
  #stopped = false
  #running: Promise<void> | undefined

  constructor(options: LoopOptions) {
    this.#options = options
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Ends the sleep it is in, or the next one. */
  wake(): void {
    this.#woken = true
    this.#sleep.abort()
  }

  /** Resolves when the step under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#sleep.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, step } = this.#options
    let failures = 0
    while (!this.#stopped) {
      this.#woken = false
      this.#sleep = new AbortController()
      try {
        const look = await step()
        failures = 0
        if (this.#stopped || this.#woken) continue
        await this.#wait(look)
      } catch (error) {
        failures += 1
        if (!this.#survives(error, failures)) return
        await clock.sleep(backOffMs(failures), this.#sleep.signal)
      }
    }
  }

  async #wait(look: Look): Promise<void> {
    const { clock, pollMs } = this.#options
    const { signal } = this.#sleep
    if ('at' in look) await clock.sleepUntil(Math.min(look.at, clock.now() + pollMs), signal)
    else await clock.sleep(Math.min(look.afterMs, pollMs), signal)
  }

  #survives(error: unknown, failures: number): boolean {
    const { name, events } = this.#options
    if (this.#stopped) return false
    if (isFatal(error)) {
      events.emit('fatal', { where: name, error })
      return false
    }
    events.emit('trouble', { where: name, error, retryInMs: backOffMs(failures) })
    return true
  }
}

/** Whether going on could do harm: the disk failed, the store is damaged, closed, or went back in time. */
export function isFatal(error: unknown): boolean {
  if (!(error instanceof RotaError)) return false
  return ['STORE_IO', 'STORE_CORRUPT', 'STORE_VERSION', 'STORE_WENT_BACK', 'STORE_CLOSED'].includes(error.code)
}

/** Doubles from 50 ms, capped at 5 s, with a jitter that spreads processes that failed together. */
export function backOffMs(failures: number): number {
  const full = Math.min(5000, 50 * 2 ** Math.min(failures - 1, 10))
  return Math.round(full * (0.75 + 0.25 * fractionOf(String(failures))))
}
