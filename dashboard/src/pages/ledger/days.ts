/** Days and the results of their due times. Days are in UTC, because the server counts and stores them so. */
import type { CoveredDay } from '../../../../src/client/operations.js'
import type { Mark } from '../../design/marks.js'

/** The results of the due times of one day. */
export type DayCoverage = NonNullable<CoveredDay['coverage']>

/** Days that the map can show. */
export const lengths = [7, 30, 90] as const

/** Reasons, unwanted ones first. */
export const reasons = [
  'missed',
  'collapsed',
  'overlap',
  'paused',
  'frozen',
  'switch',
  'blackout',
  'calendar',
  'checked',
  'pruned',
] as const satisfies readonly Mark[]

/** The state that represents a day: unexplained, a reason, or done; undefined if nothing was due. */
export function markOf({ unexplained, explained, run }: DayCoverage): Mark | undefined {
  if (unexplained > 0) return 'unexplained'
  return reasons.find((reason) => (explained[reason] ?? 0) > 0) ?? (run > 0 ? 'done' : undefined)
}

/** Days of many triggers as one. */
export function sumOf(days: readonly CoveredDay[]): DayCoverage & { readonly uncounted: number } {
  const sum = { due: 0, run: 0, unexplained: 0, unexpected: 0, uncounted: 0 }
  const explained: Record<string, number> = {}
  for (const { coverage } of days) {
    if (coverage === null) {
      sum.uncounted += 1
      continue
    }
    sum.due += coverage.due
    sum.run += coverage.run
    sum.unexplained += coverage.unexplained
    sum.unexpected += coverage.unexpected
    for (const [reason, count] of Object.entries(coverage.explained)) {
      explained[reason] = (explained[reason] ?? 0) + count
    }
  }
  return { ...sum, explained }
}
