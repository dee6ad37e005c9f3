import type { Clock, WakeSignal } from '../time/clock.js'
import type { Instant } from '../time/instant.js'
import { fractionOf } from '../kernel/identity/identity.js'
import { RotaError } from '../kernel/definition/errors.js'
import type { Events } from './events.js'

/** When a loop looks again: at an instant of the wall clock, or after some time; never later than the slow poll. */
export type Look = { readonly at: Instant } | { readonly afterMs: number }

/** The options of a loop. */
export interface LoopOptions {
  readonly name: string
  /** Differs between processes, so that those that failed together do not retry together. */
  readonly seed: string
  readonly clock: Clock
  readonly events: Events
  /** The longest sleep: the slow poll behind all hints. */
  readonly pollMs: number
  /** Does what is due and returns when to look again. */
  readonly step: () => Promise<Look>
}

/** Repeats a step: at the time that it returns, when woken, or at the slow poll. */
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

  /** Ends the current sleep, or the next one. */
  wake(): void {
    this.#woken = true
    this.#sleep?.wake()
  }

  /** Resolves when the current step has ended. */
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
        // A wake does not shorten this pause: with a failing store, hints would cause a busy loop.
        await clock.sleep(pauseMs, this.#end.signal)
      }
    }
  }

  async #wait(look: Look): Promise<void> {
    const { clock, pollMs } = this.#options
    // Timers and sockets get control even if the next step follows immediately.
    if ('afterMs' in look && look.afterMs === 0) return await new Promise((resolve) => clock.defer(resolve))
    const sleep = new Wake()
    this.#sleep = sleep
    // By elapsed time: setting the wall clock back must not make the poll longer.
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

/** Ends one sleep. An AbortController would cost more than the rest of a step on a memory store. */
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

/** Whether continuing could do harm: the disk failed, or the store is damaged, closed, or went back in time. */
export function isFatal(error: unknown): boolean {
  if (!(error instanceof RotaError)) return false
  return ['STORE_IO', 'STORE_CORRUPT', 'STORE_VERSION', 'STORE_WENT_BACK', 'STORE_CLOSED'].includes(
    error.code,
  )
}

/** Whether the store was full, which is temporary. */
export function isFull(error: unknown): boolean {
  return error instanceof RotaError && error.code === 'STORE_FULL'
}

/** Doubles from 50 ms, capped at 5 s, with a jitter from the seed that spreads processes that failed together. */
export function backOffMs(failures: number, seed: string): number {
  const full = Math.min(5000, 50 * 2 ** Math.min(failures - 1, 10))
  return Math.round(full * (0.75 + 0.25 * fractionOf(`${seed}#${failures}`)))
}
