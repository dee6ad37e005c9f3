import type { RunMark } from '../../store/overview.js'
import type { Store } from '../../store/port.js'
import { nextTurn } from '../../time/turn.js'

/** How many of the newest runs of a trigger determine the usual duration. */
const newest = 200

/** The newest runs of each trigger; other work continues between two of them. */
export async function* newestRuns(
  store: Store,
  triggers: Iterable<string>,
): AsyncGenerator<readonly [trigger: string, runs: readonly RunMark[]]> {
  for (const trigger of new Set(triggers)) {
    yield [trigger, await store.recentRuns({ triggers: [trigger], each: newest })]
    await nextTurn()
  }
}

/** The sorted durations of runs that have started and ended. */
export function durationsOf(runs: readonly RunMark[]): readonly number[] {
  return runs
    .flatMap(({ startedAt, finishedAt }) =>
      startedAt === undefined || finishedAt === undefined ? [] : [finishedAt - startedAt],
    )
    .toSorted((a, b) => a - b)
}
