import { breachAt, breachOf, sortable, type Breach } from '../../kernel/sla/deadline.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

/** Which breaches to return. */
export interface BreachFilter {
  /** The names of the entries; default: all. */
  readonly names?: readonly string[] | undefined
  readonly fromAt?: Instant | undefined
  readonly untilAt?: Instant | undefined
  /** Default: all stored breaches. */
  readonly limit?: number | undefined
}

/** How many entries one request reads: each definition keeps 200. */
const mostRead = 5000

/** The recorded breaches, the newest first. */
export async function breaches(store: Store, filter: BreachFilter): Promise<readonly Breach[]> {
  const { names, fromAt = 0, untilAt = Infinity, limit } = filter
  const [only] = names ?? []
  // Breaches of one definition are stored together, ordered by time.
  const after = only !== undefined && names?.length === 1 ? { name: only, item: sortable(fromAt) } : undefined
  const entries = await store.stateEntries({ kind: 'breach', names, after, limit: mostRead })
  return entries
    .map(breachOf)
    .filter((breach) => breachAt(breach) >= fromAt && breachAt(breach) <= untilAt)
    .toSorted((one, other) => breachAt(other) - breachAt(one))
    .slice(0, limit)
}
