import type { Store } from '../../store/port.js'
import { nextTurn } from '../../time/turn.js'

/** How long the newest runs of a trigger took. */
export interface UsualDuration {
  readonly runs: number
  readonly medianMs: number
  readonly p95Ms: number
}

/** How many of the newest runs of a trigger say what is usual. */
const newest = 200

/** What is usual for triggers, by name; a trigger without a run that is done is left out. */
export async function usualDurations(
  store: Store,
  triggers: Iterable<string>,
): Promise<ReadonlyMap<string, UsualDuration>> {
  const usual = new Map<string, UsualDuration>()
  for (const trigger of new Set(triggers)) {
    const runs = await store.recentRuns({ triggers: [trigger], each: newest })
    const took = runs
      .flatMap(({ state, startedAt, finishedAt }) =>
        state === 'done' && startedAt !== undefined && finishedAt !== undefined
          ? [finishedAt - startedAt]
          : [],
      )
      .toSorted((a, b) => a - b)
    const at = (share: number): number => took[Math.ceil(share * took.length) - 1] ?? 0
    if (took.length > 0) usual.set(trigger, { runs: took.length, medianMs: at(0.5), p95Ms: at(0.95) })
    await nextTurn()
  }
  return usual
}
