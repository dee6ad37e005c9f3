import type { Clock, WakeSignal } from '../time/clock.js'
import type { Instant } from '../time/instant.js'
import { fractionOf } from '../kernel/identity/identity.js'
import { RotaError } from '../kernel/definition/errors.js'
import type { Events } from './events.js'

/** When a loop looks again: when the wall clock shows an instant, or after some time; never later than the slow poll. */
export type Look = { readonly at: Instant } | { readonly afterMs: number }

/** What a loop is made of. */
export interface LoopOptions {
  readonly name: string
  /** What other processes do not have in common with this one, so that those that failed together do not try together. */
  readonly seed: string
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
  readonly #end = new AbortController()
  #sleep: Wake | undefined
  #woken = false
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
    this.#sleep?.wake()
  }

  /** Resolves when the step under way has ended. */
  async stop(): Promise<void> {
    this.#end.abort()
    this.#sleep?.wake()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, step } = this.#options
    let failures = 0
    while (!this.#end.signal.aborted) {
      this.#woken = false
      try {
        const look = await step()
        failures = 0
        if (!this.#woken && !this.#end.signal.aborted) await this.#wait(look)
      } catch (error) {
        failures += 1
        const pauseMs = backOffMs(failures, this.#options.seed)
        if (!this.#survives(error, pauseMs)) return
        // A wake does not shorten it: hints would turn a store in trouble into a busy loop.
        await clock.sleep(pauseMs, this.#end.signal)
      }
    }
  }

  async #wait(look: Look): Promise<void> {
    const { clock, pollMs } = this.#options
    // Timers and sockets get their turn even if the next step follows at once.
    if ('afterMs' in look && look.afterMs === 0) return await new Promise((resolve) => clock.defer(resolve))
    const sleep = new Wake()
    this.#sleep = sleep
    // In time that passes: a wall clock that was put back must not make the poll longer.
    const cancelPoll = clock.timer(pollMs, () => sleep.wake(), { isPoll: true })
    if ('at' in look) await clock.sleepUntil(look.at, sleep)
    else await clock.sleep(look.afterMs, sleep)
    cancelPoll()
    this.#sleep = undefined
  }

  #survives(error: unknown, retryInMs: number): boolean {
    const { name, events } = this.#options
    if (this.#end.signal.aborted) return false
    if (isFatal(error)) {
      events.emit('fatal', { where: name, error })
      return false
    }
    events.emit('trouble', { where: name, error, retryInMs })
    return true
  }
}

/** Ends one sleep. An AbortController would cost more than the rest of a step on a store in memory. */
class Wake implements WakeSignal {
  #aborted = false
  #listener: (() => void) | undefined

  get aborted(): boolean {
    return this.#aborted
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listener = listener
  }

  removeEventListener(): void {
    this.#listener = undefined
  }

  wake(): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#listener?.()
  }
}

/** Whether going on could do harm: the disk failed, the store is damaged, closed, or went back in time. */
export function isFatal(error: unknown): boolean {
  if (!(error instanceof RotaError)) return false
  return ['STORE_IO', 'STORE_CORRUPT', 'STORE_VERSION', 'STORE_WENT_BACK', 'STORE_CLOSED'].includes(
    error.code,
  )
}

/** Whether the store had no room, which passes. */
export function isFull(error: unknown): boolean {
  return error instanceof RotaError && error.code === 'STORE_FULL'
}

/** Doubles from 50 ms, capped at 5 s, with a jitter from the seed that spreads processes that failed together. */
export function backOffMs(failures: number, seed: string): number {
  const full = Math.min(5000, 50 * 2 ** Math.min(failures - 1, 10))
  return Math.round(full * (0.75 + 0.25 * fractionOf(`${seed}#${failures}`)))
}
