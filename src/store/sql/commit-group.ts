/** The most items of one transaction: with more, others would wait too long for the lock. */
const maxGroupItems = 5000

/** A waiting operation; `Apply` returns an answer for each of several inputs. */
export interface Waiting<Apply> {
  /** Consecutive inputs with the same function are applied by one call. */
  readonly apply: Apply
  readonly input: unknown
  /** How many items it writes. */
  readonly items: number
  readonly resolve: (answer: never) => void
  readonly reject: (error: unknown) => void
}

/** Takes from the front of a queue what fits into one transaction, as long as it belongs together with the first. */
export function takeGroup<Item extends { readonly items: number }>(
  queue: Item[],
  belong: (first: Item, other: Item) => boolean = () => true,
): Item[] {
  const [first] = queue
  let items = 0
  let count = 0
  for (const one of queue) {
    if (first !== one && (items + one.items > maxGroupItems || !belong(first as Item, one))) break
    items += one.items
    count++
  }
  return queue.splice(0, count)
}

/** The function at an index of a group, and the consecutive inputs to which it is applied in one call. */
export function alikeFrom<Apply>(
  group: readonly Waiting<Apply>[],
  start: number,
): { readonly apply: Apply; readonly inputs: readonly never[] } {
  const { apply } = group[start] as Waiting<Apply>
  let end = start + 1
  while (group[end]?.apply === apply) end++
  return { apply, inputs: group.slice(start, end).map(({ input }) => input as never) }
}
