import type { Run } from '../../kernel/run/run.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

/** The last run of a trigger and its recent failures. */
export interface LastRuns {
  /** The newest run that has begun or ended, otherwise the newest of all. */
  readonly last: Run | undefined
  /** How many runs that were due within 24 hours have failed; at most a thousand over all triggers are counted. */
  readonly failed: number
}

/** Longer lists are for programs: their last runs are looked up one by one. */
const mostTriggers = 1000

const mostFailed = 1000

/** How many of the newest runs of a trigger are read: some may still wait for their time or for each other. */
const mostWaiting = 5

const day = 86_400_000

/** Reads the last runs of each trigger. Uses only indexes, never scans the history. */
export async function lastRuns(
  store: Store,
  triggers: readonly string[],
  now: Instant,
): Promise<(trigger: string) => LastRuns> {
  const failed = new Map<string, number>()
  const sinceAt = now - day
  for (const { trigger = '' } of await store.runs({ state: 'failed', sinceAt, limit: mostFailed })) {
    failed.set(trigger, (failed.get(trigger) ?? 0) + 1)
  }
  const last = new Map<string, Run>()
  for (const trigger of triggers.slice(0, mostTriggers)) {
    const newest = await store.runs({ trigger, limit: mostWaiting })
    const run = newest.find(({ state }) => state !== 'pending') ?? newest[0]
    if (run !== undefined) last.set(trigger, run)
  }
  return (trigger) => ({ last: last.get(trigger), failed: failed.get(trigger) ?? 0 })
}
