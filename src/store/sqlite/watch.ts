import type { Clock } from '../../time/clock.js'
import type { Session } from './session.js'

/** How often it is looked whether another process wrote something: less often once nobody has for a while. */
const busyMs = 100
const restMs = 250
const looksBeforeRest = 10

/** After how many looks it is asked whether the file is still the one that was opened. */
const looksPerFileCheck = 20

// Changes with every commit of another connection, never with one of this connection.
const DATA_VERSION = `pragma data_version`

/** Tells those who watch that another process has committed something. Looks only while somebody watches. */
export class Watch {
  readonly #session: Session
  readonly #clock: Clock
  readonly #isOver: () => boolean
  readonly #checkFile: () => void
  readonly #hints = new Set<() => void>()
  #looks = 0
  #seen: unknown
  #quietLooks = 0
  #cancelTimer: (() => void) | undefined

  constructor(options: { session: Session; clock: Clock; isOver: () => boolean; checkFile: () => void }) {
    this.#session = options.session
    this.#clock = options.clock
    this.#isOver = options.isOver
    this.#checkFile = options.checkFile
  }

  /** Calls back after each commit of another process; returns the function that ends it. */
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
    const waitMs = this.#quietLooks < looksBeforeRest ? busyMs : restMs
    this.#cancelTimer = this.#clock.timer(waitMs, () => this.#look())
  }

  #look(): void {
    if (this.#isOver()) return
    this.#arm()
    if (++this.#looks % looksPerFileCheck === 0) this.#checkFile()
    const version = this.#version()
    this.#quietLooks = version === this.#seen ? this.#quietLooks + 1 : 0
    if (version === this.#seen) return
    this.#seen = version
    for (const hint of this.#hints) hint()
  }

  #version(): unknown {
    try {
      return this.#session.db.value(DATA_VERSION)
    } catch {
      // A hint may be late: whoever reads next is told what is wrong, or the next look succeeds.
      return this.#seen
    }
  }
}
