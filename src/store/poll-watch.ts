import type { Clock } from '../time/clock.js'

/** How often a store is polled for commits of other processes. */
const intervalMs = 100

/** After this many polls without a change the store is polled every `restMs`. */
const pollsBeforeRest = 10

/** Notifies watchers when the version of a store changes. Polls only while there are watchers. */
export class PollWatch {
  readonly #clock: Clock
  readonly #readVersion: () => unknown
  readonly #isOver: () => boolean
  readonly #restMs: number
  readonly #hints = new Set<() => void>()
  #seen: unknown
  #quietPolls = 0
  #cancelTimer: (() => void) | undefined

  constructor(options: {
    clock: Clock
    /** Returns another value after each commit of another process. */
    version: () => unknown
    /** Whether the store is closed or broken: polling ends. */
    isOver: () => boolean
    /** The interval of a store where nothing has happened for a while; default: as before. */
    restMs?: number
  }) {
    this.#clock = options.clock
    this.#readVersion = options.version
    this.#isOver = options.isOver
    this.#restMs = options.restMs ?? intervalMs
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
    const waitMs = this.#quietPolls < pollsBeforeRest ? intervalMs : this.#restMs
    this.#cancelTimer = this.#clock.timer(waitMs, () => this.#poll())
  }

  #poll(): void {
    if (this.#isOver()) return
    this.#arm()
    const version = this.#version()
    this.#quietPolls = version === this.#seen ? this.#quietPolls + 1 : 0
    if (version === this.#seen) return
    this.#seen = version
    for (const hint of this.#hints) hint()
  }

  #version(): unknown {
    try {
      return this.#readVersion()
    } catch {
      // A late hint is harmless: the next reader sees the error, or the next poll succeeds.
      return this.#seen
    }
  }
}
