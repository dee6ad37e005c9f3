/** How long a piece grows before it is split in two: short enough to shift, long enough to have few of them. */
const longestPiece = 512

/** A set kept in order, as sorted pieces: adding, removing and the first one cost little among a million. */
export class OrderedSet<T> {
  readonly #compare: (a: T, b: T) => number
  readonly #pieces: T[][] = []
  #size = 0

  /** The order must be total, and what it looks at must not change while an item is in the set. */
  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#size
  }

  get first(): T | undefined {
    return this.#pieces[0]?.[0]
  }

  add(item: T): void {
    const { piece, index, found } = this.#find(item)
    if (found) return
    const items = this.#pieces[piece]
    this.#size++
    if (items === undefined) {
      this.#pieces.push([item])
      return
    }
    items.splice(index, 0, item)
    if (items.length > longestPiece) this.#pieces.splice(piece + 1, 0, items.splice(longestPiece / 2))
  }

  delete(item: T): boolean {
    const { piece, index, found } = this.#find(item)
    const items = this.#pieces[piece]
    if (!found || items === undefined) return false
    items.splice(index, 1)
    if (items.length === 0) this.#pieces.splice(piece, 1)
    this.#size--
    return true
  }

  /** The items in order, from the first that does not lie before the place asked for. The set must not change meanwhile. */
  *from(isBefore: (item: T) => boolean): Generator<T> {
    const start = partitionPoint(this.#pieces, (items) => isBefore(items.at(-1) as T))
    for (let piece = start; piece < this.#pieces.length; piece++) {
      const items = this.#pieces[piece] as T[]
      const index = piece === start ? partitionPoint(items, isBefore) : 0
      for (let i = index; i < items.length; i++) yield items[i] as T
    }
  }

  /** The items backwards, from the last that lies before the place asked for. The set must not change meanwhile. */
  *backwards(isBefore: (item: T) => boolean = () => true): Generator<T> {
    const start = partitionPoint(this.#pieces, (items) => isBefore(items[0] as T)) - 1
    for (let piece = start; piece >= 0; piece--) {
      const items = this.#pieces[piece] as T[]
      const end = piece === start ? partitionPoint(items, isBefore) : items.length
      for (let i = end - 1; i >= 0; i--) yield items[i] as T
    }
  }

  [Symbol.iterator](): Generator<T> {
    return this.from(() => false)
  }

  /** Where an item is, or where it would go. */
  #find(item: T): { piece: number; index: number; found: boolean } {
    const isBefore = (other: T): boolean => this.#compare(other, item) < 0
    const last = this.#pieces.at(-1)
    // Most things are added in the order of time, at the end.
    if (last !== undefined && isBefore(last.at(-1) as T)) {
      return { piece: this.#pieces.length - 1, index: last.length, found: false }
    }
    const at = partitionPoint(this.#pieces, (items) => isBefore(items.at(-1) as T))
    const piece = Math.max(0, Math.min(at, this.#pieces.length - 1))
    const items = this.#pieces[piece] ?? []
    const index = partitionPoint(items, isBefore)
    const other = items[index]
    return { piece, index, found: other !== undefined && this.#compare(other, item) === 0 }
  }
}

/** How many items at the start of a sorted list lie before a place. */
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
