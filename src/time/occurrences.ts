import { cronSchedule, type CronSchedule } from './cron/schedule.js'
import type { DstPolicy } from './cron/dst.js'
import type { Instant } from './instant.js'
import { parseInstant } from './instant.js'
import { resolveLocalTime } from './local-time.js'
import { TimeError } from './time-error.js'

/** The zone and the start of a search for occurrences. */
export interface OccurrenceOptions {
  /** The zone of the expression; default: UTC. */
  readonly timezone?: string | undefined
  /** The search starts after this instant; a text without an offset is local to the zone. */
  readonly from: Date | string
  readonly dst?: DstPolicy | undefined
}

/** The most occurrences that one call returns. */
export const MAX_OCCURRENCES = 10_000

/** The next `count` occurrences (default: 1) strictly after `from`; fewer if there are no more. */
export function nextOccurrences(
  expression: string,
  options: OccurrenceOptions & { readonly count?: number | undefined },
): Date[] {
  const { count = 1 } = options
  if (!Number.isInteger(count) || count < 1 || count > MAX_OCCURRENCES) {
    const allowed = `a whole number from 1 to ${MAX_OCCURRENCES}`
    throw new TimeError('COUNT_INVALID', `count ${count} is not ${allowed}`, { allowed })
  }
  const { schedule, from } = open(expression, options)
  const dates: Date[] = []
  for (let at = schedule.next(from); at !== undefined && dates.length < count; at = schedule.next(at)) {
    dates.push(new Date(at))
  }
  return dates
}

/** The last occurrence strictly earlier than `from`. */
export function previousOccurrence(expression: string, options: OccurrenceOptions): Date | undefined {
  const { schedule, from } = open(expression, options)
  const at = schedule.previous(from)
  return at === undefined ? undefined : new Date(at)
}

function open(expression: string, options: OccurrenceOptions): { schedule: CronSchedule; from: Instant } {
  const { timezone = 'UTC', dst } = options
  const schedule = cronSchedule(expression, { timezone, dst })
  return { schedule, from: instantOf(options.from, timezone) }
}

function instantOf(from: Date | string, timezone: string): Instant {
  if (typeof from === 'string') {
    return /(z|[+-]\d\d:\d\d)$/i.test(from) ? parseInstant(from) : resolveLocalTime(from, timezone)
  }
  const at = from instanceof Date ? from.getTime() : Number.NaN
  if (!Number.isNaN(at)) return at
  const allowed = 'a valid Date, or a text such as 2026-01-05T09:00:00Z'
  throw new TimeError('INSTANT_INVALID', 'from is not a valid Date or text', { allowed })
}
