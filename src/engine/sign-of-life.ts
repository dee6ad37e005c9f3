import type { Instant } from '../time/instant.js'
import type { Run, RunOrigin } from '../model/run.js'
import type { Store } from '../store/store.js'

/** How many runs are looked at: those of one moment may be many, and one of them was performed last. */
const mostRuns = 100

/**
 * When an engine is last known to have done something up to an instant: renewed a lease, planned a run, performed one.
 * What a command or a program records for later is none of it.
 */
export async function lastSignOfLife(
  store: Store,
  { before, now }: { readonly before: Instant; readonly now: Instant },
): Promise<Instant | undefined> {
  const runs = await store.runs({ untilAt: Math.min(before, now), limit: mostRuns })
  const beats = (await store.workers()).map((worker) => worker.lastBeatAt ?? worker.startedAt)
  const signs = [...beats, ...runs.flatMap(signsOf)].filter((at) => at <= before)
  return signs.length === 0 ? undefined : Math.max(...signs)
}

/** Those that an engine records; the others come from whoever asks. */
const planned: ReadonlySet<RunOrigin> = new Set(['trigger', 'sensor', 'round', 'upstream'])

function signsOf({ origin, createdAt, claimedAt, startedAt, finishedAt, attempt }: Run): Instant[] {
  // A run that was cancelled before anybody took it has an end, and no engine had to do with it.
  const performed = attempt === 0 ? [] : [claimedAt, startedAt, finishedAt]
  return [planned.has(origin) ? createdAt : undefined, ...performed].flatMap((at) => at ?? [])
}
