import { rangeOver } from '../explain/due-instants.js'
import type { RunState } from '../../kernel/run/run.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

/** The recorded states of the due instants of a trigger. */
export interface RecordedInstants {
  /** The state of the run of an instant, also of a run by a backfill; `pruned` if it was removed since, `missing` if there was none. */
  stateAt(at: Instant): RunState | 'missing' | 'pruned'
}

/** How many runs one page has: they may be large. */
const runsPerPage = 500

/** How many due instants one page has: they are small, and a page must not consist of one instant only. */
const instantsPerPage = 10_000

/** If an instant has several runs, one that is done counts first, then an unfinished one. */
const ranks: Readonly<Record<RunState, number>> = { done: 4, running: 3, pending: 2, failed: 1, cancelled: 0 }

/** Reads the records of a trigger between two instants: its own runs, those of backfills, and pruned ranges. */
export async function readRecordedInstants(
  store: Store,
  request: {
    readonly trigger: string
    readonly fromAt: Instant
    readonly untilAt: Instant
  },
): Promise<RecordedInstants> {
  const { trigger, fromAt, untilAt } = request
  const states = new Map<Instant, RunState>()
  const add = ({ dueAt, state }: { dueAt: Instant; state: RunState }): void => {
    const known = states.get(dueAt)
    if (known === undefined || ranks[state] > ranks[known]) states.set(dueAt, state)
  }
  for (let pageAt: Instant | undefined = fromAt; pageAt !== undefined; ) {
    const own = await store.runInstants({ trigger, fromAt: pageAt, untilAt, limit: instantsPerPage })
    for (const one of own) add(one)
    pageAt = own.length < instantsPerPage ? undefined : own.at(-1)?.dueAt
  }
  const filter = { trigger, origin: 'backfill', sinceAt: fromAt, untilAt, limit: runsPerPage } as const
  for (let page = await store.runs(filter); page.length > 0; ) {
    for (const run of page) add(run)
    page = page.length < runsPerPage ? [] : await store.runs({ ...filter, before: page.at(-1)?.id })
  }
  const ranges = await store.ledger({ trigger, fromAt, untilAt })
  return {
    stateAt: (at) => states.get(at) ?? (rangeOver(ranges, at)?.reason === 'pruned' ? 'pruned' : 'missing'),
  }
}
