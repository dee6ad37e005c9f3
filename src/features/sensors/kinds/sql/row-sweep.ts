import type { Instant } from '../../../../time/instant.js'
import { flag, listOf, mapOf, number, orNull, type StateOf } from '../state-table.js'
import { storedValue, type StoredValue } from './value.js'

/** The position of a row in the order of the cursor. */
export const rowPlace = mapOf({ value: storedValue, id: storedValue })

/** Rows written after this instant get at least this value; null if there was no row. */
const checkpoint = mapOf({ at: number, value: orNull(storedValue) })

/**
 * How rows that become visible out of order are read.
 *
 * A row gets its cursor value when it is written and becomes visible when its transaction commits, which may be after rows
 * with greater values were read. So the table is read in sweeps, each of which starts a little before the end of the last.
 * How far before is not computed from values, which may be numbers, texts or times, but stored: a
 * checkpoint states that rows written after its instant get at least its value. A row that was missed by the sweep
 * that started at s was written after s − look-back, if no transaction takes longer than the look-back; so the next sweep
 * starts at the newest checkpoint that is at least that old. All rows with the value of the checkpoint are read again,
 * whatever their ids.
 *
 * Rows that were being written when the sensor started have no earlier checkpoint: everything is read once more when
 * the look-back has passed. Rows that are read again are recognised by their keys.
 */
export const sweeps = mapOf({
  /** When the first poll was. */
  beganAt: number,
  /** The row after which it starts, if existing rows are ignored. */
  after: orNull(rowPlace),
  /** Whether the rows that were being written at that time have been read. */
  isSettled: flag,
  /** When the last complete sweep started. */
  lastAt: orNull(number),
  /** The current sweep and its position. */
  sweep: orNull(mapOf({ at: number, place: rowPlace })),
  /** The last row of the last sweep. */
  end: orNull(rowPlace),
  checkpoints: listOf(checkpoint),
})

/** How far the rows were read. */
export type Sweeps = StateOf<typeof sweeps>

/** The position of a row. */
export type RowPlace = StateOf<typeof rowPlace>

type Checkpoint = StateOf<typeof checkpoint>

/** Where reading continues: after a row, at a value, or at the beginning. */
export type SweepStart =
  | { readonly kind: 'after'; readonly place: RowPlace }
  | { readonly kind: 'at'; readonly value: StoredValue }
  | { readonly kind: 'beginning' }

/** The sweeps of a new sensor, given the last existing row. */
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

/** The sweeps after a page: further on, or complete with a new checkpoint. */
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

/** Whether a sweep that starts at this instant is the one that reads everything once more. */
function isSettling({ isSettled, beganAt, lastAt }: Sweeps, at: Instant, reachMs: number): boolean {
  return !isSettled && lastAt !== null && at >= beganAt + reachMs
}

/** The needed checkpoints, at some distance from each other; a missing one only means that more is read again. */
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
