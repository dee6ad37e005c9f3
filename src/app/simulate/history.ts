import { isFinal } from '../../kernel/run/run.js'
import type { Store } from '../../store/port.js'
import { durationsOf, newestRuns } from '../runs/newest-runs.js'

/** The durations and failures of the newest runs of a trigger. */
export interface TriggerHistory {
  /** How long its runs took, sorted. */
  readonly tookMs: readonly number[]
  /** The share of its runs that failed. */
  readonly failed: number
}

/** The history of triggers, by name; one without a finished run is left out. */
export async function historyOf(
  store: Store,
  triggers: readonly string[],
): Promise<ReadonlyMap<string, TriggerHistory>> {
  const known = new Map<string, TriggerHistory>()
  for await (const [trigger, runs] of newestRuns(store, triggers)) {
    const ended = runs.filter(({ state }) => isFinal(state) && state !== 'cancelled')
    const tookMs = durationsOf(ended)
    const failed = ended.filter(({ state }) => state === 'failed').length
    if (tookMs.length > 0) known.set(trigger, { tookMs, failed: failed / ended.length })
  }
  return known
}
