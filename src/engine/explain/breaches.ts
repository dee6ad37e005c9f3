import { breachAt, breachOf, sortable, type Breach } from '../../kernel/sla/deadline.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

/** Which breaches are asked for. */
export interface BreachFilter {
  /** The names under which the entries stand; all of them where none are given. */
  readonly names?: readonly string[] | undefined
  readonly fromAt?: Instant | undefined
  readonly untilAt?: Instant | undefined
  /** Default: all that are kept. */
  readonly limit?: number | undefined
}

/** How many entries one request reads: each definition keeps 200. */
const mostRead = 5000

/** Promises that were broken, the newest first. */
export async function breaches(store: Store, filter: BreachFilter): Promise<readonly Breach[]> {
  const { names, fromAt = 0, untilAt = Infinity, limit } = filter
  const [only] = names ?? []
  // Those of one definition lie beside each other, in the order of time.
  const after = only !== undefined && names?.length === 1 ? { name: only, item: sortable(fromAt) } : undefined
  const entries = await store.stateEntries({ kind: 'breach', names, after, limit: mostRead })
  return entries
    .map(breachOf)
    .filter((breach) => breachAt(breach) >= fromAt && breachAt(breach) <= untilAt)
    .toSorted((one, other) => breachAt(other) - breachAt(one))
    .slice(0, limit)
}
