import type { Clock } from '../../time/clock.js'
import type { CommitLoop } from './commit-loop.js'
import type { Session } from './session.js'

/** How often it is looked whether another process wrote something. */
const intervalMs = 100

/** Tells those who watch that another process has committed something, or that a file came to `pending`. Looks only while somebody watches. */
export class Watch {
  readonly #session: Session
  readonly #loop: CommitLoop
  readonly #clock: Clock
  readonly #hints = new Set<() => void>()
  #seen = ''
  #cancelTimer: (() => void) | undefined

  constructor(options: { session: Session; loop: CommitLoop; clock: Clock }) {
    this.#session = options.session
    this.#loop = options.loop
    this.#clock = options.clock
  }

  /** Calls back after each change; returns the function that ends it. */
  add(hint: () => void): () => void {
    // One and the same function may watch twice.
    const own = (): void => hint()
    this.#hints.add(own)
    if (this.#cancelTimer === undefined) {
      this.#seen = this.#version()
      this.#arm()
    }
    return () => {
      this.#hints.delete(own)
      if (this.#hints.size === 0) this.close()
    }
  }

  close(): void {
    this.#hints.clear()
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #arm(): void {
    this.#cancelTimer = this.#clock.timer(intervalMs, () => this.#look())
  }

  #look(): void {
    if (this.#loop.ended !== undefined) return
    this.#arm()
    const version = this.#version()
    if (version === this.#seen) return
    this.#seen = version
    for (const hint of this.#hints) hint()
  }

  /** Changes with every commit, and with everything that comes to or leaves `pending`. */
  #version(): string {
    try {
      this.#session.look()
      const { directory, seq } = this.#session
      return `${seq} ${directory.disk.look(directory.of('pending'))?.mtimeMs}`
    } catch {
      // A hint may be late: whoever reads next is told what is wrong, or the next look succeeds.
      return this.#seen
    }
  }
}
