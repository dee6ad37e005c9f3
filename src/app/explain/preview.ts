import { clockChangeNotes, type ClockChangeNote, explainOccurrence } from '../../time/cron/explain.js'
import { cronSchedule } from '../../time/cron/schedule.js'
import type { DstPolicy } from '../../time/cron/dst.js'
import type { Instant } from '../../time/instant.js'
import { formatLocal } from '../../time/local-time.js'

/** What to preview. */
export interface PreviewRequest {
  readonly expression: string
  readonly timezone: string
  readonly dst: DstPolicy | undefined
  readonly from: Instant
  /** How many at most. */
  readonly count: number
}

/** The next occurrences of an expression, with the effect of daylight saving changes. */
export interface Preview {
  readonly expression: string
  /** The zone in its usual spelling. */
  readonly timezone: string
  readonly dst: DstPolicy
  readonly occurrences: readonly PreviewedOccurrence[]
  /** Every change between `from` and the last occurrence that moves, adds or drops some. */
  readonly changes: readonly ClockChangeNote[]
}

/** One occurrence, and the clock change that moved or added it. */
export interface PreviewedOccurrence {
  readonly at: Instant
  /** In the zone, with its offset. */
  readonly local: string
  readonly change: ClockChangeNote | undefined
}

/** Computes the next occurrences without writing anything. */
export function preview(request: PreviewRequest): Preview {
  const { expression, timezone, dst, from, count } = request
  const schedule = cronSchedule(expression, { timezone, dst })
  const occurrences: PreviewedOccurrence[] = []
  for (let at = schedule.next(from); at !== undefined && occurrences.length < count; at = schedule.next(at)) {
    const local = formatLocal(at, schedule.zone)
    occurrences.push({ at, local, change: explainOccurrence(schedule, at) })
  }
  // If there are fewer than requested, no later occurrence exists that a clock change could affect.
  const until = occurrences.at(-1)?.at ?? from
  const changes = clockChangeNotes(schedule, { after: from, until })
  return { expression, timezone: schedule.zone.name, dst: schedule.dst, occurrences, changes }
}
