import type { FinalState } from '../../model/run.js'

type Counts = Partial<Record<string, number>>

/** The sum of two texts that say how many runs were pruned, by outcome. */
export function addCounts(a: string | null, b: string | null): string {
  const [one, other] = [JSON.parse(a ?? '{}') as Counts, JSON.parse(b ?? '{}') as Counts]
  return writeCounts(
    Object.fromEntries(finalStates.map((state) => [state, (one[state] ?? 0) + (other[state] ?? 0)])),
  )
}

const finalStates: readonly FinalState[] = ['done', 'failed', 'cancelled']

/** Says how many runs were pruned, by outcome. */
export function writeCounts(counts: Counts): string {
  return JSON.stringify(
    Object.fromEntries(finalStates.flatMap((state) => (counts[state] ? [[state, counts[state]]] : []))),
  )
}
