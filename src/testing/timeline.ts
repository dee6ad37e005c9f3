import type { Instant } from '../time/instant.js'

/** A timer that waits: for time that passes, or for the wall clock to show an instant. */
export interface Waiting {
  /** Whose timer it is, so that all of one owner can be dropped. */
  readonly owner: object
  /** The instant it waits for, where it follows the wall clock. */
  readonly wallAt: Instant | undefined
  dueMs: number
  readonly fire: () => void
}

interface Entry extends Waiting {
  readonly order: number
  isOver: boolean
}

/** Time that passes only when it is told to; shared by all clocks made from it. */
export class Timeline {
  wall: Instant
  monotonicMs = 0
  /** A heap: the entry that fires next is the first. Those that are over stay until they come up or are too many. */
  #entries: Entry[] = []
  #over = 0
  #order = 0

  constructor(at: Instant) {
    this.wall = at
  }

  /** How many timers wait; some of them may be over. */
  get size(): number {
    return this.#entries.length
  }

  /** Lets a timer wait; gives the function that cancels it. */
  wait(waiting: Waiting): () => void {
    const { owner, wallAt, dueMs, fire } = waiting
    const entry: Entry = { owner, wallAt, dueMs, fire, order: this.#order++, isOver: false }
    this.#push(entry)
    return () => this.#cancel(entry)
  }

  /** The timer that fires next. */
  first(): Waiting | undefined {
    for (;;) {
      const first = this.#entries[0]
      if (first?.isOver !== true) return first
      this.#pop()
      this.#over -= 1
    }
  }

  /** Takes out the timer that fires next. */
  take(): Waiting | undefined {
    const first = this.first()
    if (first === undefined) return undefined
    this.#pop()
    ;(first as Entry).isOver = true
    return first
  }

  passTo(monotonicMs: number): void {
    const passed = Math.max(0, monotonicMs - this.monotonicMs)
    this.monotonicMs += passed
    this.wall += passed
  }

  /** Moves the wall clock; what follows it is due earlier or later. */
  step(byMs: number): void {
    this.wall += byMs
    for (const one of this.#entries) {
      if (one.wallAt !== undefined) one.dueMs = this.monotonicMs + Math.max(0, one.wallAt - this.wall)
    }
    this.#rebuild((entry) => !entry.isOver)
  }

  /** Drops every timer of an owner. */
  drop(owner: object): void {
    this.#rebuild((entry) => !entry.isOver && entry.owner !== owner)
  }

  #cancel(entry: Entry): void {
    if (entry.isOver) return
    entry.isOver = true
    this.#over += 1
    if (this.#over > 64 && this.#over * 2 > this.#entries.length) this.#rebuild((one) => !one.isOver)
  }

  #rebuild(isKept: (entry: Entry) => boolean): void {
    // What is in order is a heap.
    this.#entries = this.#entries.filter(isKept).toSorted((a, b) => (isBefore(a, b) ? -1 : 1))
    this.#over = 0
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
