import type { LogLine } from '../../kernel/run/run.js'
import type { Store } from '../../store/port.js'
import type { Clock } from '../../time/clock.js'

/** How long a line may wait, so that several are written together. */
const bufferMs = 100

/** Log lines on their way to the store: written together, and always before the end of their run. */
export class LogBuffer {
  readonly #store: Store
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  #lines: LogLine[] = []
  #cancelTimer: (() => void) | undefined

  constructor(store: Store, clock: Clock, onError: (error: unknown) => void) {
    this.#store = store
    this.#clock = clock
    this.#onError = onError
  }

  add(line: LogLine): void {
    this.#lines.push(line)
    this.#cancelTimer ??= this.#clock.timer(bufferMs, () => this.flush())
  }

  /** Writes the buffered lines. Called right before a turn, so that lines and ends share a commit. */
  flush(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    if (this.#lines.length === 0) return
    const lines = this.#lines
    this.#lines = []
    // If a line cannot be written, the result of the run still counts.
    this.#store.log(lines).catch(this.#onError)
  }
}
