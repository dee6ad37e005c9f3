import type { HoldTarget } from '../../kernel/hold/hold.js'
import { holdOn, letGo, type HoldOptions } from '../control/holds.js'
import { RotaRuns } from './runs.js'

/** Holding back and letting go: one trigger, one queue, everything, and the stored kill switches. */
export abstract class RotaHolds extends RotaRuns {
  /** Stops a trigger's ticks; false where it was paused already. */
  async pause(trigger: string, options: HoldOptions = {}): Promise<boolean> {
    return await this.#hold(`trigger:${trigger}`, options)
  }

  /** Lets a trigger tick again; what was due meanwhile stays skipped unless it is to be caught up. */
  async resume(trigger: string, options: { readonly catchUp?: boolean } = {}): Promise<boolean> {
    return await this.#release(`trigger:${trigger}`, options.catchUp ?? false)
  }

  /** Stops claims from a queue. */
  async pauseQueue(queue: string, options: HoldOptions = {}): Promise<boolean> {
    return await this.#hold(`queue:${queue}`, options)
  }

  /** Lets a queue be claimed from again. */
  async resumeQueue(queue: string): Promise<boolean> {
    return await this.#release(`queue:${queue}`, false)
  }

  /** Stops all ticks and claims everywhere; what runs goes on. */
  async freeze(options: HoldOptions = {}): Promise<boolean> {
    return await this.#hold('all', options)
  }

  /** Ends a freeze. */
  async thaw(options: { readonly catchUp?: boolean } = {}): Promise<boolean> {
    return await this.#release('all', options.catchUp ?? false)
  }

  /** Turns a stored kill switch off for every process. */
  async switchOff(name: 'pipeline' | 'scheduler' | 'worker', options: HoldOptions = {}): Promise<boolean> {
    return await this.#hold(`switch:${name}`, options)
  }

  /** Turns a stored kill switch on again. */
  async switchOn(name: 'pipeline' | 'scheduler' | 'worker'): Promise<boolean> {
    return await this.#release(`switch:${name}`, false)
  }

  async #hold(target: HoldTarget, options: HoldOptions): Promise<boolean> {
    const outcome = (isNew: boolean): string => (isNew ? 'held' : 'already held')
    return await this.tell({ operation: 'hold', target, outcome }, async () =>
      holdOn(await this.store(), { target, now: this.now(), ...options }),
    )
  }

  async #release(target: HoldTarget, catchUp: boolean): Promise<boolean> {
    const outcome = (isReleased: boolean): string => (isReleased ? 'released' : 'not held')
    const released = await this.tell({ operation: 'release', target, outcome }, async () =>
      letGo(await this.store(), { target, now: this.now(), catchUp }),
    )
    this.wake()
    return released
  }
}
