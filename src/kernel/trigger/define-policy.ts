import { MAX_DURATION_MS } from '../../time/duration.js'
import { fault, within, type Place } from '../definition/faults.js'
import { readChoice, readDuration, readOptions, readWhole } from '../definition/read-value.js'
import type { CatchUpPolicy, OverlapPolicy } from './trigger.js'

const modes: readonly CatchUpPolicy['mode'][] = ['skip', 'latest', 'all']

const overlaps: readonly OverlapPolicy[] = [
  'allow',
  'skip',
  'queue-one',
  'queue-all',
  'cancel-running',
  'terminate-running',
]

const ageBounds = { min: 1, max: MAX_DURATION_MS, allowed: 'from 1ms to 36525d' }
const graceBounds = { min: 0, max: 3_600_000, allowed: 'from 0s to 1h' }

/** Reads the catch-up policy: a mode, or a mode with bounds. Partitions must not have gaps: their default is `all`. */
export function readCatchUp(
  value: unknown,
  trigger: { readonly isPartitioned: boolean },
  place: Place,
): CatchUpPolicy {
  const defaults: CatchUpPolicy = {
    mode: trigger.isPartitioned ? 'all' : 'latest',
    maxAgeMs: undefined,
    maxRuns: 100,
    graceMs: 60_000,
  }
  if (value === undefined) return defaults
  if (typeof value === 'string')
    return { ...defaults, mode: readChoice(value, modes, place) ?? defaults.mode }
  const input = readOptions(value, ['mode', 'maxAge', 'maxRuns', 'grace'], place)
  if (input === undefined) return defaults
  return {
    mode: readChoice(input['mode'], modes, within(place, 'mode')) ?? defaults.mode,
    maxAgeMs: readDuration(input['maxAge'], ageBounds, within(place, 'maxAge')),
    maxRuns:
      readWhole(input['maxRuns'], { min: 1, max: 10_000 }, within(place, 'maxRuns')) ?? defaults.maxRuns,
    graceMs: readDuration(input['grace'], graceBounds, within(place, 'grace')) ?? defaults.graceMs,
  }
}

/** Reads the overlap policy. */
export function readOverlap(value: unknown, catchUp: CatchUpPolicy, place: Place): OverlapPolicy {
  const usual = catchUp.mode === 'all' ? 'queue-all' : 'skip'
  const overlap = readChoice(value, overlaps, place) ?? usual
  if (catchUp.mode === 'all' && overlap === 'skip') {
    fault(place, 'skip would drop the runs that catch-up all creates', 'any but skip, or catchUp latest')
  }
  return overlap
}
