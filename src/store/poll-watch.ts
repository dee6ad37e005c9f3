import type { Clock } from '../time/clock.js'

/** How often a store is polled for commits of other processes. */
const intervalMs = 100

/** After this many polls without a change the store is polled every `restMs`. */
const pollsBeforeRest = 10

/** The same after a change, if the store has reported writes while idle: it reports the next one as well. */
const pollsAfterWrite = 3

/** The idle interval if the store reports changes itself: the slow poll behind that. */
const watchedMs = 2000

/** Starts to call `wake` after writes; returns the function that stops it, or undefined if that is not possible. */
export type WatchWrites = (wake: () => void) => (() => void) | undefined

/** Notifies watchers when the version of a store changes. Polls only while there are watchers. */
export class PollWatch {
  readonly #clock: Clock
  readonly #readVersion: () => unknown
  readonly #isOver: () => boolean
  readonly #restMs: number
  readonly #watchWrites: WatchWrites | undefined
  readonly #isNews: () => boolean
  readonly #hints = new Set<() => void>()
  #seen: unknown
  #quietPolls = 0
  #hasWatched = false
  #cancelTimer: (() => void) | undefined
  #endWatch: (() => void) | undefined

  constructor(options: {
    clock: Clock
    /** Returns another value after each commit of another process. */
    version: () => unknown
    /** Whether the store is closed or broken: polling ends. */
    isOver: () => boolean
    /** The interval after a while without changes; default: the same as before. */
    restMs?: number
    /** Whether a change may matter to a watcher; default: each does. */
    isNews?: () => boolean
    /** Saves polls while idle. A write may be reported before its commit is visible, so polls follow it. */
    watchWrites?: WatchWrites
  }) {
    this.#clock = options.clock
    this.#readVersion = options.version
    this.#isOver = options.isOver
    this.#restMs = options.restMs ?? intervalMs
    this.#watchWrites = options.watchWrites
    this.#isNews = options.isNews ?? (() => true)
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
    this.#stopWatching()
  }

  #arm(): void {
    const waitMs = this.#waitMs()
    this.#cancelTimer = this.#clock.timer(waitMs, () => this.#poll(), { isPoll: waitMs === watchedMs })
  }

  #waitMs(): number {
    // One poll early: a commit that was written before the watch began and becomes visible after it is still found.
    if (this.#quietPolls >= pollsBeforeRest - 1) {
      this.#endWatch ??= this.#watchWrites?.(() => this.#wake())
      this.#hasWatched = this.#endWatch !== undefined
    }
    if (this.#quietPolls < pollsBeforeRest) return intervalMs
    return this.#endWatch === undefined ? this.#restMs : watchedMs
  }

  #wake(): void {
    this.#stopWatching()
    this.#lookOften()
    this.#cancelTimer?.()
    this.#poll()
  }

  #lookOften(): void {
    this.#quietPolls = this.#hasWatched ? pollsBeforeRest - pollsAfterWrite : 0
  }

  #stopWatching(): void {
    this.#endWatch?.()
    this.#endWatch = undefined
  }

  #poll(): void {
    if (this.#isOver()) return this.#stopWatching()
    this.#arm()
    const version = this.#version()
    this.#quietPolls += 1
    if (version === this.#seen) return
    this.#seen = version
    if (!this.#hasNews()) return this.#restSoon()
    this.#lookOften()
    for (const hint of this.#hints) hint()
  }

  #restSoon(): void {
    this.#quietPolls = Math.max(this.#quietPolls, pollsBeforeRest - 1)
    this.#cancelTimer?.()
    this.#arm()
  }

  #hasNews(): boolean {
    try {
      return this.#isNews()
    } catch {
      return true
    }
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
