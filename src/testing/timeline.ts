import type { Instant } from '../time/instant.js'

/** A pending timer: for elapsed time, or for an instant of the wall clock. */
export interface Waiting {
  /** Its owner, so that all timers of one owner can be dropped. */
  readonly owner: object
  /** The instant it waits for, if it follows the wall clock. */
  readonly wallAt: Instant | undefined
  dueMs: number
  readonly fire: () => void
}

interface Entry extends Waiting {
  readonly order: number
  isCancelled: boolean
}

/** Time that advances only on request; shared by all clocks made from it. */
export class Timeline {
  wall: Instant
  monotonicMs = 0
  /** A heap: the next entry is the first. Cancelled entries stay until they come up or are too many. */
  #entries: Entry[] = []
  #cancelled = 0
  #order = 0
  /** The deferred functions, oldest first. */
  #deferred: (() => void)[] = []

  constructor(at: Instant) {
    this.wall = at
  }

  /** The number of timers; some of them may be cancelled. */
  get size(): number {
    return this.#entries.length
  }

  /** Adds a timer; returns the function that cancels it. */
  wait(waiting: Waiting): () => void {
    const { owner, wallAt, dueMs, fire } = waiting
    const entry: Entry = { owner, wallAt, dueMs, fire, order: this.#order++, isCancelled: false }
    this.#push(entry)
    return () => this.#cancel(entry)
  }

  /** The timer that fires next. */
  first(): Waiting | undefined {
    for (;;) {
      const first = this.#entries[0]
      if (first?.isCancelled !== true) return first
      this.#pop()
      this.#cancelled -= 1
    }
  }

  /** Removes the timer that fires next. */
  take(): Waiting | undefined {
    const first = this.first()
    if (first === undefined) return undefined
    this.#pop()
    ;(first as Entry).isCancelled = true
    return first
  }

  /** Calls `act` in a later cycle of the event loop, unless `actDeferred` does it before. */
  defer(act: () => void): void {
    this.#deferred.push(act)
    setImmediate(() => this.actDeferred())
  }

  /** Calls the first deferred function; returns whether there was one. */
  actDeferred(): boolean {
    const act = this.#deferred.shift()
    act?.()
    return act !== undefined
  }

  passTo(monotonicMs: number): void {
    const passed = Math.max(0, monotonicMs - this.monotonicMs)
    this.monotonicMs += passed
    this.wall += passed
  }

  /** Steps the wall clock; timers that follow it become due earlier or later. */
  step(byMs: number): void {
    this.wall += byMs
    for (const one of this.#entries) {
      if (one.wallAt !== undefined) one.dueMs = this.monotonicMs + Math.max(0, one.wallAt - this.wall)
    }
    this.#rebuild((entry) => !entry.isCancelled)
  }

  /** Drops every timer of an owner. */
  drop(owner: object): void {
    this.#rebuild((entry) => !entry.isCancelled && entry.owner !== owner)
  }

  #cancel(entry: Entry): void {
    if (entry.isCancelled) return
    entry.isCancelled = true
    this.#cancelled += 1
    if (this.#cancelled > 64 && this.#cancelled * 2 > this.#entries.length)
      this.#rebuild((one) => !one.isCancelled)
  }

  #rebuild(isKept: (entry: Entry) => boolean): void {
    // A sorted list is a heap.
    this.#entries = this.#entries.filter(isKept).toSorted((a, b) => (isBefore(a, b) ? -1 : 1))
    this.#cancelled = 0
  }

  #push(entry: Entry): void {
    const entries = this.#entries
    let index = entries.push(entry) - 1
    while (index > 0) {
      const parent = (index - 1) >>> 1
      if (!isBefore(entry, entries[parent] as Entry)) break
      entries[index] = entries[parent] as Entry
      index = parent
    }
    entries[index] = entry
  }

  #pop(): void {
    const entries = this.#entries
    const last = entries.pop()
    if (last === undefined || entries.length === 0) return
    let index = 0
    for (;;) {
      let child = index * 2 + 1
      if (child >= entries.length) break
      if (child + 1 < entries.length && isBefore(entries[child + 1] as Entry, entries[child] as Entry))
        child += 1
      if (!isBefore(entries[child] as Entry, last)) break
      entries[index] = entries[child] as Entry
      index = child
    }
    entries[index] = last
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order)
}
