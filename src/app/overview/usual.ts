import type { Store } from '../../store/port.js'
import { durationsOf, newestRuns } from '../runs/newest-runs.js'

/** How long the newest runs of a trigger took. */
export interface UsualDuration {
  readonly runs: number
  readonly medianMs: number
  readonly p95Ms: number
}

/** The usual durations of triggers, by name; a trigger without a done run is left out. */
export async function usualDurations(
  store: Store,
  triggers: Iterable<string>,
): Promise<ReadonlyMap<string, UsualDuration>> {
  const usual = new Map<string, UsualDuration>()
  for await (const [trigger, runs] of newestRuns(store, triggers)) {
    const took = durationsOf(runs.filter(({ state }) => state === 'done'))
    const at = (share: number): number => took[Math.ceil(share * took.length) - 1] ?? 0
    if (took.length > 0) usual.set(trigger, { runs: took.length, medianMs: at(0.5), p95Ms: at(0.95) })
  }
  return usual
}
