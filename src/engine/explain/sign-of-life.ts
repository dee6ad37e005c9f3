import type { Instant } from '../../time/instant.js'
import type { RunOrigin } from '../../kernel/run/run.js'
import type { Store } from '../../store/port.js'

/** How many runs are read: one moment may have many. */
const mostRuns = 100

/**
 * When a scheduler was last known to be alive, up to an instant: it renewed its lease, or planned a run. Runs that
 * commands or programs enqueue, and the work of workers, do not show that a scheduler was alive.
 */
export async function lastSignOfLife(store: Store, until: Instant): Promise<Instant | undefined> {
  const { lastBeatAt, livingSince } = await store.signsOf({ role: 'scheduler', until })
  if (livingSince === undefined) return lastBeatAt
  // It was alive before and after, so it slept or hung in between: its last planned run is the last sign of life.
  const runs = await store.runs({ untilAt: until, limit: mostRuns })
  const plannedAt = runs
    .filter(({ origin, createdAt }) => !asked.has(origin) && createdAt >= livingSince && createdAt <= until)
    .map(({ createdAt }) => createdAt)
  return Math.max(lastBeatAt ?? livingSince, livingSince, ...plannedAt)
}

/** The origins of requested runs; all others were recorded by a scheduler. */
const asked: ReadonlySet<RunOrigin> = new Set(['enqueue', 'manual', 'backfill'])
