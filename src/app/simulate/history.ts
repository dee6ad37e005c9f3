import { isFinal } from '../../kernel/run/run.js'
import type { Store } from '../../store/port.js'
import { nextTurn } from '../../time/turn.js'

/** What the newest runs of a trigger say about the next ones. */
export interface TriggerHistory {
  /** How long its runs took, sorted. */
  readonly tookMs: readonly number[]
  /** The share of its runs that failed. */
  readonly failed: number
}

/** How many of the newest runs of a trigger are looked at. */
const newest = 200

/** What is known of triggers, by name; one without a finished run is left out. */
export async function historyOf(
  store: Store,
  triggers: readonly string[],
): Promise<ReadonlyMap<string, TriggerHistory>> {
  const known = new Map<string, TriggerHistory>()
  for (const trigger of triggers) {
    const runs = await store.recentRuns({ triggers: [trigger], each: newest })
    const ended = runs.filter(({ state }) => isFinal(state) && state !== 'cancelled')
    const tookMs = ended
      .flatMap(({ startedAt, finishedAt }) =>
        startedAt === undefined || finishedAt === undefined ? [] : [finishedAt - startedAt],
      )
      .toSorted((a, b) => a - b)
    const failed = ended.filter(({ state }) => state === 'failed').length
    if (tookMs.length > 0) known.set(trigger, { tookMs, failed: failed / ended.length })
    await nextTurn()
  }
  return known
}
