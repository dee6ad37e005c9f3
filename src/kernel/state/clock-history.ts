import type { Instant } from '../../time/instant.js'
import type { Json } from '../definition/json.js'
import type { StateEntry, StateKey } from './state-entry.js'

/** Where a store of one machine keeps how the clocks of that machine stand to each other. */
export const clockStateKey: StateKey = { kind: 'clock', name: 'machine', item: '' }

/** The wall clock and the monotonic one of a machine at one moment. */
export interface ClockPair {
  readonly wall: Instant
  readonly monotonicMs: number
}

/** A difference between the two that is no jump. */
export const jumpToleranceMs = 2000

/**
 * Since when, by the monotonic clock, the wall clock is known to have moved with it. Undefined where nothing is known, or
 * where it jumped since: the machine slept, its clock was set, or it was started again.
 */
export function steadySinceMs(
  note: StateEntry | undefined,
  { wall, monotonicMs }: ClockPair,
): number | undefined {
  const known = note?.value as { readonly offsetMs: number; readonly sinceMs: number } | undefined
  if (known === undefined || monotonicMs < known.sinceMs) return undefined
  return Math.abs(wall - monotonicMs - known.offsetMs) > jumpToleranceMs ? undefined : known.sinceMs
}

/** The value of the note from a moment on. */
export function clockStateValue({ wall, monotonicMs }: ClockPair): Json {
  return { offsetMs: wall - monotonicMs, sinceMs: monotonicMs }
}
