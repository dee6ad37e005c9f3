/** What a day of a year shows: its worst news, and its numbers as text. */
import type { YearDay } from '../../../../src/client/ui-operations.js'
import type { Mark } from '../../design/marks.js'
import { words } from '../../words/trigger.js'

/** The order in which news outranks others. */
const reasons = [
  'missed',
  'overlap',
  'collapsed',
  'paused',
  'frozen',
  'switch',
  'blackout',
  'calendar',
] as const

/** The mark of a day; undefined where nothing was due. */
export function dayMark(day: YearDay): Mark | undefined {
  if (day.failed > 0) return 'failed'
  for (const reason of reasons) if ((day.ranges[reason] ?? 0) > 0) return reason
  if (day.running > 0) return 'running'
  if (day.done > 0) return 'done'
  if (day.cancelled > 0) return 'cancelled'
  if (day.pending > 0) return 'pending'
  return day.due > 0 ? 'due' : undefined
}

/** The numbers of a day. */
export function dayText(day: YearDay): string {
  const { done, failed, cancelled, pending, running, due } = day
  const counts = Object.entries({ done, failed, cancelled, running, pending, due }).filter(
    ([, count]) => count > 0,
  )
  const ranges = Object.entries(day.ranges).filter(([reason]) => reason !== 'checked')
  return words.year.day(day.date, counts, ranges)
}

/** How many days of the week before stand in the first column, with Monday at the top. */
export function daysBefore(firstDate: string): number {
  return (new Date(`${firstDate}T00:00:00Z`).getUTCDay() + 6) % 7
}
