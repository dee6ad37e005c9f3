import type { FinalState } from '../run/run.js'

type Counts = Partial<Record<string, number>>

/** The sum of two texts that say how many runs were pruned, by outcome. */
export function addCounts(a: string | null | undefined, b: string | null | undefined): string {
  const [one, other] = [readCounts(a), readCounts(b)]
  return writeCounts(
    Object.fromEntries(finalStates.map((state) => [state, (one[state] ?? 0) + (other[state] ?? 0)])),
  )
}

const finalStates: readonly FinalState[] = ['done', 'failed', 'cancelled']

/** Formats how many runs were pruned, by outcome. */
export function writeCounts(counts: Counts): string {
  return JSON.stringify(
    Object.fromEntries(finalStates.flatMap((state) => (counts[state] ? [[state, counts[state]]] : []))),
  )
}

/** The total number of pruned runs in such a text. */
export function sumOfCounts(text: string | undefined): number {
  return Object.values(readCounts(text)).reduce<number>((sum, count) => sum + (count ?? 0), 0)
}

function readCounts(text: string | null | undefined): Counts {
  return JSON.parse(text ?? '{}') as Counts
}
