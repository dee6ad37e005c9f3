import { formatDuration, MAX_DURATION_MS } from '../../time/duration.js'
import { fault, shown, type Place } from '../definition/faults.js'
import { readDuration } from '../definition/read-value.js'

/** So many runs in so much time. */
export interface Pace {
  readonly runs: number
  readonly perMs: number
}

const allowed = 'runs and a time, such as 10/1m'
const mostRuns = 100_000

/** Reads a pace such as `10/1m`; faults are noted at the place. */
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
