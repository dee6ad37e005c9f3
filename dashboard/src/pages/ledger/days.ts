/** Local dates and what became of their due instants. */
import type { YearDay } from '../../../../src/client/ui-operations.js'
import type { Mark } from '../../design/families.js'

/** One date of the heat map. */
export interface Day {
  /** Such as `2026-11-17`. */
  readonly date: string
  /** ISO text of the instant at which it begins. */
  readonly fromAt: string
  readonly runs: number
  readonly failed: number
  /** Ranges without a run that touch the date, by reason. */
  readonly ranges: Readonly<Record<string, number>>
}

/** Dates that the map can show. */
export const lengths = [7, 30, 90] as const

/** The newest dates up to the one of an instant, oldest first. */
export function newestDates(count: number, nowMs: number, zone: string): readonly string[] {
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(nowMs)
  const noon = Date.parse(`${today}T12:00:00Z`)
  return Array.from({ length: count }, (_, index) =>
    new Date(noon - (count - 1 - index) * 86_400_000).toISOString().slice(0, 10),
  )
}

/** The years that some dates are in. */
export function yearsOf(dates: readonly string[]): readonly number[] {
  return [...new Set(dates.map((date) => Number(date.slice(0, 4))))]
}

/** What a date shows, of what the server counted. */
export function dayOf({ date, fromAt, pending, running, done, failed, cancelled, ranges }: YearDay): Day {
  return { date, fromAt, runs: pending + running + done + failed + cancelled, failed, ranges }
}

/** Reasons, those first that nobody chose. */
export const reasons = [
  'missed',
  'collapsed',
  'overlap',
  'paused',
  'frozen',
  'switch',
  'checked',
  'pruned',
] as const satisfies readonly Mark[]

/** The state that stands for a date: a reason why something did not run, else that all ran; undefined: nothing was due. */
export function markOf({ runs, ranges }: Day): Mark | undefined {
  return reasons.find((reason) => (ranges[reason] ?? 0) > 0) ?? (runs > 0 ? 'done' : undefined)
}
