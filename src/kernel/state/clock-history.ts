import type { Instant } from '../../time/instant.js'
import type { Json } from '../definition/json.js'
import type { StateEntry, StateKey } from './state-entry.js'

/** The state entry in which a store on one machine keeps the difference between the machine's clocks. */
export const clockStateKey: StateKey = { kind: 'clock', name: 'machine', item: '' }

/** The wall clock and the monotonic one of a machine at one moment. */
export interface ClockPair {
  readonly wall: Instant
  readonly monotonicMs: number
}

/** A smaller difference between the two is not a jump. */
export const jumpToleranceMs = 2000

/**
 * Since when, by the monotonic clock, the wall clock is known to have moved with it. Undefined if nothing is known, or
 * if it has jumped: the machine slept, its clock was set, or it restarted.
 */
export function steadySinceMs(
  note: StateEntry | undefined,
  { wall, monotonicMs }: ClockPair,
): number | undefined {
  const known = note?.value as { readonly offsetMs: number; readonly sinceMs: number } | undefined
  if (known === undefined || monotonicMs < known.sinceMs) return undefined
  return Math.abs(wall - monotonicMs - known.offsetMs) > jumpToleranceMs ? undefined : known.sinceMs
}

/** The value of the state entry. */
export function clockStateValue({ wall, monotonicMs }: ClockPair): Json {
  return { offsetMs: wall - monotonicMs, sinceMs: monotonicMs }
}
