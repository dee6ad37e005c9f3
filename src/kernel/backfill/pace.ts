import { formatDuration, MAX_DURATION_MS } from '../../time/duration.js'
import type { Instant } from '../../time/instant.js'
import { fault, shown, type Place } from '../definition/faults.js'
import { readDuration } from '../definition/read-value.js'

/** A number of runs for each period. */
export interface Pace {
  readonly runs: number
  readonly perMs: number
}

const allowed = 'runs and a time, such as 10/1m'
const mostRuns = 100_000

/** Reads a pace such as `10/1m`; records faults at the place. */
export function readPace(value: unknown, place: Place): Pace | undefined {
  if (value === undefined) return undefined
  const found = typeof value === 'string' ? /^(\d+)\/(.+)$/.exec(value) : null
  if (found === null) return fault(place, `${shown(value)} is not a pace`, allowed)
  const runs = Number(found[1])
  if (runs < 1 || runs > mostRuns)
    return fault(place, `${shown(value)} has ${found[1]} runs`, `1 to ${mostRuns} runs`)
  const perMs = readDuration(found[2], { min: 1, max: MAX_DURATION_MS, allowed: 'from 1ms to 36525d' }, place)
  return perMs === undefined ? undefined : { runs, perMs }
}

/** A pace as people write it. */
export function paceText({ runs, perMs }: Pace): string {
  return `${runs}/${formatDuration(perMs)}`
}

/**
 * When the run at an index of a backfill may start. Each index has its own instant, so workers claim the runs in
 * this order; without a pace no run may start later than the backfill itself.
 */
export function runAtOf({ pace, total, startedAt, createdAt }: PacedBackfill, index: number): Instant {
  const beganAt = startedAt ?? createdAt
  return pace === null ? beganAt - (total - index) : beganAt + Math.floor((index * pace.perMs) / pace.runs)
}

interface PacedBackfill {
  readonly pace: Pace | null
  readonly total: number
  readonly startedAt: Instant | null
  readonly createdAt: Instant
}
