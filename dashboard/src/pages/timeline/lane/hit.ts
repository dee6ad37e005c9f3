/** Finds what lies under a pointer, and what comes next for the keyboard. */
import { marks } from '../../../design/marks.js'
import type { Item } from './merge.js'
import { severity } from './points.js'

/** How far from a shape a pointer still finds it: a target of 24 pixels. */
const reachPx = 12

/** The item at an instant, if one is near; of several the nearest, and of those the one that needs attention most. */
export function itemAt(items: readonly Item[], atMs: number, msPerPx: number): Item | undefined {
  let found: Item | undefined
  let best = Infinity
  for (const item of items) {
    // Items are ordered by their beginning.
    if (item.fromMs - atMs > reachPx * msPerPx) break
    const distance = Math.max(0, item.fromMs - atMs, atMs - item.untilMs) / msPerPx
    if (distance > reachPx) continue
    const score = distance + rank(item) / 100 + (item.kind === 'bar' ? 0.5 : 0)
    if (score < best) [found, best] = [item, score]
  }
  return found
}

function rank(item: Item): number {
  return severity.indexOf(marks[item.mark].family)
}

/** Where the keyboard is: on an item of a lane, by the instant at which the item begins. */
export interface Cursor {
  readonly lane: number
  readonly atMs: number
}

/** The directions of the arrow keys. */
export type Direction = 'left' | 'right' | 'up' | 'down' | 'first' | 'last'

/**
 * Moves the cursor to the next item of its lane, or to the nearest one of the lane above or below that has any. Without
 * a cursor it begins at the item nearest to `startMs`. At the edge it stays.
 */
export function moveCursor(
  cursor: Cursor | undefined,
  direction: Direction,
  {
    itemsOfLane,
    lanes,
    startMs,
  }: { itemsOfLane: (lane: number) => readonly Item[]; lanes: number; startMs: number },
): Cursor | undefined {
  if (cursor === undefined) return nearestFrom(0, 1, { itemsOfLane, lanes, atMs: startMs })
  const { lane, atMs } = cursor
  if (direction === 'up' || direction === 'down') {
    const step = direction === 'up' ? -1 : 1
    return nearestFrom(lane + step, step, { itemsOfLane, lanes, atMs }) ?? cursor
  }
  const items = itemsOfLane(lane)
  const next = {
    left: () => items.findLast((item) => item.fromMs < atMs),
    right: () => items.find((item) => item.fromMs > atMs),
    first: () => items[0],
    last: () => items.at(-1),
  }[direction]()
  return next === undefined ? cursor : { lane, atMs: next.fromMs }
}

function nearestFrom(
  lane: number,
  step: 1 | -1,
  {
    itemsOfLane,
    lanes,
    atMs,
  }: { itemsOfLane: (lane: number) => readonly Item[]; lanes: number; atMs: number },
): Cursor | undefined {
  for (let index = lane; index >= 0 && index < lanes; index += step) {
    const items = itemsOfLane(index)
    if (items.length === 0) continue
    const nearest = items.reduce((one, other) =>
      Math.abs(other.fromMs - atMs) < Math.abs(one.fromMs - atMs) ? other : one,
    )
    return { lane: index, atMs: nearest.fromMs }
  }
  return undefined
}

/** The item at the cursor. After a zoom it is the one that contains its instant. */
export function itemUnder(items: readonly Item[], atMs: number): Item | undefined {
  return (
    items.find((item) => item.fromMs === atMs) ??
    items.find((item) => item.fromMs <= atMs && atMs <= item.untilMs)
  )
}
