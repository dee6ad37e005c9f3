/** The length at which a chunk is split: short enough to shift, long enough to have few chunks. */
const maxChunkLength = 512

/** A sorted set of sorted chunks: adding, removing and reading the first item are cheap among a million. */
export class OrderedSet<T> {
  readonly #compare: (a: T, b: T) => number
  readonly #chunks: T[][] = []
  #size = 0

  /** The order must be total, and the fields it compares must not change while an item is in the set. */
  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#size
  }

  get first(): T | undefined {
    return this.#chunks[0]?.[0]
  }

  add(item: T): void {
    const chunk = this.#chunkOf(item)
    const items = this.#chunks[chunk]
    if (items === undefined) {
      this.#chunks.push([item])
      this.#size++
      return
    }
    const index = this.#indexIn(items, item)
    if (this.#isAt(items, index, item)) return
    this.#size++
    if (index === items.length) items.push(item)
    else items.splice(index, 0, item)
    if (items.length > maxChunkLength) this.#chunks.splice(chunk + 1, 0, items.splice(maxChunkLength / 2))
  }

  delete(item: T): boolean {
    const chunk = this.#chunkOf(item)
    const items = this.#chunks[chunk]
    if (items === undefined) return false
    const index = this.#indexIn(items, item)
    if (!this.#isAt(items, index, item)) return false
    if (index === items.length - 1) items.pop()
    else if (index === 0) items.shift()
    else items.splice(index, 1)
    if (items.length === 0) this.#chunks.splice(chunk, 1)
    this.#size--
    return true
  }

  /** The first item that matches. */
  find(fits: (item: T) => boolean): T | undefined {
    for (const items of this.#chunks) for (const item of items) if (fits(item)) return item
    return undefined
  }

  /** The items in order, starting with the first for which `isBefore` is false. The set must not change meanwhile. */
  *from(isBefore: (item: T) => boolean): Generator<T> {
    const start = partitionPoint(this.#chunks, (items) => isBefore(items.at(-1) as T))
    for (let chunk = start; chunk < this.#chunks.length; chunk++) {
      const items = this.#chunks[chunk] as T[]
      const index = chunk === start ? partitionPoint(items, isBefore) : 0
      for (let i = index; i < items.length; i++) yield items[i] as T
    }
  }

  /** The items in reverse order, starting with the last for which `isBefore` is true. The set must not change meanwhile. */
  *backwards(isBefore: (item: T) => boolean = () => true): Generator<T> {
    const start = partitionPoint(this.#chunks, (items) => isBefore(items[0] as T)) - 1
    for (let chunk = start; chunk >= 0; chunk--) {
      const items = this.#chunks[chunk] as T[]
      const end = chunk === start ? partitionPoint(items, isBefore) : items.length
      for (let i = end - 1; i >= 0; i--) yield items[i] as T
    }
  }

  [Symbol.iterator](): Generator<T> {
    return this.from(() => false)
  }

  /** The chunk of an item, or the one that it would be added to. */
  #chunkOf(item: T): number {
    let low = 0
    let high = Math.max(0, this.#chunks.length - 1)
    while (low < high) {
      const middle = (low + high) >>> 1
      const last = (this.#chunks[middle] as T[]).at(-1) as T
      if (this.#compare(last, item) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The index of an item in a chunk, or where to insert it. Called often for each run, so it creates no objects. */
  #indexIn(items: readonly T[], item: T): number {
    let low = 0
    let high = items.length
    // Most items are added at the end, ordered by time.
    if (high > 0 && this.#compare(items[high - 1] as T, item) < 0) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compare(items[middle] as T, item) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  #isAt(items: readonly T[], index: number, item: T): boolean {
    return index < items.length && this.#compare(items[index] as T, item) === 0
  }
}

/** The number of items at the start of a sorted list for which `isBefore` is true. */
function partitionPoint<T>(items: readonly T[], isBefore: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(items[middle] as T)) low = middle + 1
    else high = middle
  }
  return low
}
