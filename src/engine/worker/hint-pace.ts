import type { Clock } from '../../time/clock.js'

/** The longest wait: how much later a run may begin if the only worker with room has often looked in vain. */
const longestMs = 16

/**
 * How soon a worker looks for runs of other processes. All processes get the same hint, and one of them claims the
 * runs. The others look for nothing; so a worker that looked in vain looks a little later the next time, once for all
 * hints until then. One that has not looked for a while looks at once.
 */
export class HintPace {
  readonly #clock: Clock
  readonly #look: () => void
  #inVain = 0
  #lookedMs = -Infinity
  #isHinted = false
  #cancel: (() => void) | undefined

  constructor(clock: Clock, look: () => void) {
    this.#clock = clock
    this.#look = look
  }

  /** Another process may have recorded runs. */
  hint(): void {
    this.#isHinted = true
    const restMs = Math.min(longestMs, 2 ** this.#inVain)
    const waitMs = this.#inVain === 0 ? 0 : this.#lookedMs + restMs - this.#clock.monotonicMs()
    if (waitMs <= 0) this.#look()
    else this.#cancel ??= this.#clock.timer(waitMs, () => this.#fire())
  }

  /** A turn looks for runs as well: a hint that waits needs no other look. */
  cover(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #fire(): void {
    this.#cancel = undefined
    this.#look()
  }

  /** A turn is over. */
  looked(hasFound: boolean): void {
    this.#lookedMs = this.#clock.monotonicMs()
    if (!this.#isHinted) return
    this.#isHinted = false
    this.#inVain = hasFound ? 0 : Math.min(this.#inVain + 1, 10)
  }
}
