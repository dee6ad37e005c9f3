import { useQueries, type UseQueryResult } from '@tanstack/react-query'
import type { Operations } from '../../../../src/client/operations.js'
import type { RunMark, UiOperations } from '../../../../src/client/ui-operations.js'
import { recentQuery } from '../../data/triggers.js'

type Answer = (Operations & UiOperations)['GET /ui/recent']['answer']

/** Rows whose newest runs are read in one request. */
const chunkSize = 25
/** So many rows around the first one on the screen are shown, or soon will be. */
const around = { before: 8, after: 60 }

/** The newest runs of the triggers near the screen, by name. */
export function useRecent(
  names: readonly string[],
  shownRow: number,
): ReadonlyMap<string, readonly RunMark[]> {
  const first = Math.max(0, Math.floor((shownRow - around.before) / chunkSize))
  const last = Math.floor(Math.min(names.length - 1, shownRow + around.after) / chunkSize)
  const chunks = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) =>
    names.slice((first + index) * chunkSize, (first + index + 1) * chunkSize),
  )
  return useQueries({ queries: chunks.map((chunk) => recentQuery(chunk, 20)), combine: byTrigger })
}

function byTrigger(results: readonly UseQueryResult<Answer>[]): ReadonlyMap<string, readonly RunMark[]> {
  return new Map(
    results.flatMap(({ data }) => (data?.items ?? []).map(({ trigger, runs }) => [trigger, runs] as const)),
  )
}
