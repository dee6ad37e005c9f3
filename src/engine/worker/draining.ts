import type { Clock } from '../../time/clock.js'
import type { Events } from '../events.js'

/** What draining needs from its process. */
export interface DrainingOptions {
  readonly clock: Clock
  readonly events: Events
  /** How many claims the process holds. */
  readonly holding: () => number
  /** Called when the process may take work again. */
  readonly onUndrained: () => void
}

/** How often it checks whether the last run has ended. */
const lookMs = 100

/**
 * Whether this process drains, so that it takes no new work. It learns this from a heartbeat, and its turns claim
 * nothing meanwhile. This class emits the events, also when the last run has ended. Draining can be cancelled until the
 * process ends.
 */
export class Draining {
  readonly #options: DrainingOptions
  #isOn = false
  #cancelLook: (() => void) | undefined

  constructor(options: DrainingOptions) {
    this.#options = options
  }

  get isOn(): boolean {
    return this.#isOn
  }

  /** Handles the answer of a heartbeat. */
  onHeartbeat(worker: string, isDraining: boolean): void {
    if (isDraining === this.#isOn) return
    this.#isOn = isDraining
    const { events, holding, onUndrained } = this.#options
    if (isDraining) {
      events.emit('worker:draining', { worker, running: holding() })
      this.#look(worker)
      return
    }
    this.stop()
    events.emit('worker:undrained', { worker })
    onUndrained()
  }

  /** Stops checking. */
  stop(): void {
    this.#cancelLook?.()
    this.#cancelLook = undefined
  }

  #look(worker: string): void {
    const { clock, events, holding } = this.#options
    if (holding() === 0) events.emit('worker:drained', { worker })
    else this.#cancelLook = clock.timer(lookMs, () => this.#look(worker))
  }
}
