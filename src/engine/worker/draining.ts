import type { Clock } from '../../time/clock.js'
import type { Events } from '../events.js'

/** What draining needs to know of the process. */
export interface DrainingOptions {
  readonly clock: Clock
  readonly events: Events
  /** What the process holds, begun or not. */
  readonly holding: () => number
  /** It may take work again. */
  readonly onUndrained: () => void
}

/** How soon the end of the last run is noticed. */
const lookMs = 100

/**
 * Whether this process is to take nothing more. The store says so with a heartbeat, and its turns claim nothing
 * meanwhile; here it is told, and the end of the last run is noticed. Until the process ends it can be taken back.
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

  /** Takes in what a heartbeat of the worker said. */
  heard(worker: string, isDraining: boolean): void {
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

  /** Looks no more. */
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
