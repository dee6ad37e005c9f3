import type { Instant } from './instant.js'
import { TimeError } from './time-error.js'

/** A pure set of instants that can be searched in both directions; implemented by cron, interval and once. */
export interface Schedule {
  /** The first instant strictly later than `after`, or undefined when there is none. */
  next(after: Instant): Instant | undefined
  /** The last instant strictly earlier than `before`, or undefined when there is none. */
  previous(before: Instant): Instant | undefined
}

/** The first and the last instant at which a schedule may be due; both belong to it. */
export interface Bounds {
  readonly startAt?: Instant | undefined
  readonly endAt?: Instant | undefined
}

/** The part of a schedule that lies within bounds. */
export function bounded(schedule: Schedule, bounds: Bounds): Schedule {
  const { startAt = -Infinity, endAt = Infinity } = bounds
  if (!(startAt <= endAt)) {
    throw new TimeError('BOUNDS_INVALID', `The end ${endAt} lies before the start ${startAt}`, {
      allowed: 'startAt and endAt in Unix milliseconds, startAt not after endAt',
    })
  }
  if (startAt === -Infinity && endAt === Infinity) return schedule
  return {
    next(after) {
      // Instants are whole milliseconds, so subtracting one makes the strict search include the bound.
      const at = schedule.next(Math.max(after, startAt - 1))
      return at !== undefined && at <= endAt ? at : undefined
    },
    previous(before) {
      const at = schedule.previous(Math.min(before, endAt + 1))
      return at !== undefined && at >= startAt ? at : undefined
    },
  }
}
