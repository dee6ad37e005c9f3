import type { Instant } from './instant.js'
import type { Schedule } from './schedule.js'
import { TimeError } from './time-error.js'

/** A fixed grid of instants: the anchor and every `everyMs` after it. */
export interface IntervalOptions {
  readonly everyMs: number
  readonly anchorAt: Instant
  /** Whether the anchor itself belongs to the grid. */
  readonly immediate?: boolean | undefined
}

/** The last instant that a JavaScript Date can represent. */
const LAST_INSTANT = 8_640_000_000_000_000

/** The instants `anchorAt + k * everyMs` for k from 1, or from 0 when immediate. */
export function intervalSchedule(options: IntervalOptions): Schedule {
  const { everyMs, anchorAt, immediate = false } = options
  if (
    !Number.isSafeInteger(everyMs) ||
    everyMs < 1 ||
    !(Math.abs(anchorAt) <= LAST_INSTANT) ||
    anchorAt % 1 !== 0
  ) {
    throw new TimeError('INTERVAL_INVALID', `Every ${everyMs} ms from ${anchorAt} is not an interval`, {
      allowed: 'everyMs: a whole number from 1; anchorAt: whole Unix milliseconds',
    })
  }
  const firstStep = immediate ? 0 : 1
  const instantAt = (step: number): Instant => anchorAt + step * everyMs
  return {
    next(after) {
      const at = instantAt(Math.max(firstStep, Math.floor((after - anchorAt) / everyMs) + 1))
      return at <= LAST_INSTANT ? at : undefined
    },
    previous(before) {
      const latest = Math.min(before, LAST_INSTANT + 1)
      const step = Math.ceil((latest - anchorAt) / everyMs) - 1
      return step >= firstStep ? instantAt(step) : undefined
    },
  }
}
