import type { Clock } from '../../time/clock.js'
import type { CommitLoop } from './commit-loop.js'
import type { Session } from './session.js'

/** How often the store is polled for commits of other processes. */
const intervalMs = 100

/** Notifies watchers of commits by other processes and of new files in `pending`. Polls only while there are watchers. */
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

  /** Calls `hint` after each change; returns the function that stops it. */
  add(hint: () => void): () => void {
    // The same function may be added twice.
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
    this.#cancelTimer = this.#clock.timer(intervalMs, () => this.#poll())
  }

  #poll(): void {
    if (this.#loop.ended !== undefined) return
    this.#arm()
    const version = this.#version()
    if (version === this.#seen) return
    this.#seen = version
    for (const hint of this.#hints) hint()
  }

  /** Changes with every commit, and with every file that is added to or removed from `pending`. */
  #version(): string {
    try {
      this.#session.readCommitted()
      const { directory, seq } = this.#session
      return `${seq} ${directory.disk.lstat(directory.of('pending'))?.mtimeMs}`
    } catch {
      // A late hint is harmless: the next reader sees the error, or the next poll succeeds.
      return this.#seen
    }
  }
}
