import type { Instant } from '../../time/instant.js'
import type { RunOrigin } from '../../kernel/run/run.js'
import type { Store } from '../../store/port.js'

/** How many runs are looked at: those of one moment may be many. */
const mostRuns = 100

/**
 * When a scheduler is last known to have lived, up to an instant: it renewed its lease, or planned a run. What commands
 * and programs write, and what workers perform, says nothing about whether anybody planned.
 */
export async function lastSignOfLife(store: Store, until: Instant): Promise<Instant | undefined> {
  const { lastBeatAt, livingSince } = await store.signsOf({ role: 'scheduler', until })
  if (livingSince === undefined) return lastBeatAt
  // It lived before and after, so that it slept or hung in between: the last run that it planned is what is known.
  const runs = await store.runs({ untilAt: until, limit: mostRuns })
  const plannedAt = runs
    .filter(({ origin, createdAt }) => !asked.has(origin) && createdAt >= livingSince && createdAt <= until)
    .map(({ createdAt }) => createdAt)
  return Math.max(lastBeatAt ?? livingSince, livingSince, ...plannedAt)
}

/** Runs that somebody asked for; all others were recorded by a scheduler. */
const asked: ReadonlySet<RunOrigin> = new Set(['enqueue', 'manual', 'backfill'])
