import type { Instant } from './instant.js'
import type { Schedule } from './schedule.js'
import { TimeError } from './time-error.js'

/** A schedule with a single instant. */
export function onceSchedule(at: Instant): Schedule {
  if (!Number.isSafeInteger(at)) {
    throw new TimeError('INSTANT_INVALID', `${at} is not an instant`, { allowed: 'whole Unix milliseconds' })
  }
  return {
    next: (after) => (after < at ? at : undefined),
    previous: (before) => (before > at ? at : undefined),
  }
}
