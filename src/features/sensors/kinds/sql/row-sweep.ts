import type { Instant } from '../../../../time/instant.js'
import type { StoredValue } from './value.js'

/**
 * How rows are read that become visible out of order.
 *
 * A row gets its cursor value when it is written and becomes visible when its transaction commits, which may be after rows
 * with greater values were read. So the table is read in sweeps, each of which begins a little behind the end of the last.
 * How far behind is not worked out from values, which may be numbers or texts as well as times, but remembered: a
 * checkpoint says that whatever is written after its instant gets at least its value. A row that was missed by the sweep
 * that began at s was written after s − look-back, if no transaction takes longer than the look-back; so the next sweep
 * begins at the newest checkpoint that is at least so old. Rows with the same value as the checkpoint are read again, all
 * of them, whatever their ids.
 *
 * What was being written when the sensor began has no checkpoint before it: for its sake the whole is read once more when
 * the look-back has passed. Rows that are read again are known by their keys.
 */
export type Sweeps = {
  /** When the sensor looked first. */
  readonly beganAt: Instant
  /** What it begins after, where what was there at first is no news. */
  readonly after: RowPlace | null
  /** Whether what was being written at that time has been read. */
  readonly isSettled: boolean
  /** When the last sweep that reached the end began. */
  readonly lastAt: Instant | null
  /** The sweep under way, and how far it is. */
  readonly sweep: { readonly at: Instant; readonly place: RowPlace } | null
  /** The last row of the last sweep. */
  readonly end: RowPlace | null
  readonly checkpoints: readonly Checkpoint[]
}

/** Where a row stands in the order of the cursor. */
export type RowPlace = { readonly value: StoredValue; readonly id: StoredValue }

/** What is written after this instant gets at least this value; null where there was no row. */
export type Checkpoint = { readonly at: Instant; readonly value: StoredValue | null }

/** Where to go on reading: after a row, at a value, or at the beginning. */
export type SweepStart =
  | { readonly kind: 'after'; readonly place: RowPlace }
  | { readonly kind: 'at'; readonly value: StoredValue }
  | { readonly kind: 'beginning' }

/** The sweeps of a sensor that has just begun, given the last row that it saw. */
export function beginSweeps(input: {
  readonly now: Instant
  readonly last: RowPlace | null
  readonly startFrom: 'beginning' | 'now'
}): Sweeps {
  const { now, last, startFrom } = input
  const isFromNow = startFrom === 'now'
  return {
    beganAt: now,
    after: isFromNow ? last : null,
    isSettled: isFromNow,
    lastAt: isFromNow ? now : null,
    sweep: null,
    end: isFromNow ? last : null,
    checkpoints: [{ at: now, value: last?.value ?? null }],
  }
}

/** Where the next page begins. */
export function nextStart(sweeps: Sweeps, { now, reachMs }: { now: Instant; reachMs: number }): SweepStart {
  const { sweep, lastAt, end, checkpoints } = sweeps
  if (sweep !== null) return { kind: 'after', place: sweep.place }
  if (reachMs === 0) return end === null ? { kind: 'beginning' } : { kind: 'after', place: end }
  if (lastAt === null || isSettling(sweeps, now, reachMs)) return { kind: 'beginning' }
  const floor = checkpoints.findLast(({ at }) => at <= lastAt - reachMs) ?? checkpoints[0]
  return floor?.value == null ? { kind: 'beginning' } : { kind: 'at', value: floor.value }
}

/** The sweeps after a page: further on, or at the end, which is remembered. */
export function afterPage(
  sweeps: Sweeps,
  page: {
    readonly now: Instant
    readonly reachMs: number
    readonly last: RowPlace | null
    readonly hasMore: boolean
  },
): Sweeps {
  const { now, reachMs, last, hasMore } = page
  const at = sweeps.sweep?.at ?? now
  const isSettled = sweeps.isSettled || isSettling(sweeps, at, reachMs)
  if (hasMore && last !== null) return { ...sweeps, isSettled, sweep: { at, place: last } }
  const end = last ?? sweeps.sweep?.place ?? sweeps.end
  const checkpoints = kept([...sweeps.checkpoints, { at: now, value: end?.value ?? null }], { at, reachMs })
  return { ...sweeps, isSettled, lastAt: at, sweep: null, end, checkpoints }
}

/** Whether a sweep that begins at this instant is the one that reads the whole once more. */
function isSettling({ isSettled, beganAt, lastAt }: Sweeps, at: Instant, reachMs: number): boolean {
  return !isSettled && lastAt !== null && at >= beganAt + reachMs
}

/** As many checkpoints as are needed, no two of them close together; a missing one only means that more is read again. */
function kept(
  checkpoints: readonly Checkpoint[],
  { at, reachMs }: { at: Instant; reachMs: number },
): readonly Checkpoint[] {
  const apart: Checkpoint[] = []
  for (const one of checkpoints) {
    const before = apart.at(-1)
    if (before === undefined || one.at - before.at >= reachMs / pieces) apart.push(one)
  }
  const oldest = apart.findLastIndex((one) => one.at <= at - reachMs)
  return apart.slice(Math.max(0, oldest))
}

const pieces = 16
