/**
 * Puts the points of a lane together for one zoom. What it makes depends on the zoom alone and not on where the stretch
 * begins, so that moving the timeline changes nothing but positions.
 */
import type { Mark } from '../../../design/marks.js'
import {
  addTally,
  countOf,
  rankOfTally,
  worstOf,
  type Bar,
  type Counting,
  type Point,
  type Tally,
} from './points.js'

/** An item on a lane, which the cursor can select. */
export interface Item {
  /** A shape, several instants as a block, or a hatched bar. */
  readonly kind: 'shape' | 'block' | 'bar'
  readonly fromMs: number
  readonly untilMs: number
  /** The state that represents it. */
  readonly mark: Mark
  readonly count: number
  readonly tally: Tally
  /** The space of a shape or of a single block, in pixels, up to the next one. */
  readonly roomPx: number
  /** The point of a shape, or the bar. */
  readonly point?: Point
  readonly bar?: Bar
}

/** Instants that are nearer to each other than this become blocks. */
const mergePx = 4
/** Blocks are cut at multiples of this width where what they hold changes. */
const cellPx = 8

/** The items of a lane, by time; `points` are ordered by time. */
export function itemsOf(points: readonly Point[], bars: readonly Bar[], msPerPx: number): readonly Item[] {
  const items: Item[] = []
  const nearMs = mergePx * msPerPx
  let start = 0
  while (start < points.length) {
    let end = start + 1
    while (end < points.length && gapBetween(points[end - 1] as Point, points[end] as Point) < nearMs)
      end += 1
    const first = points[start] as Point
    const roomPx = roomOf(points, [start, end]) / msPerPx
    if (end - start === 1 && countOf(first.tally) === 1) {
      items.push(shapeOf(first, roomPx))
    } else {
      const blocks = blocksOf(points, [start, end], cellPx * msPerPx)
      const [only] = blocks
      // One block may be as wide as a shape, where it has the room.
      items.push(...(only !== undefined && blocks.length === 1 ? [{ ...only, roomPx }] : blocks))
    }
    start = end
  }
  for (const bar of bars) items.push(barItem(bar))
  return bars.length === 0 ? items : items.toSorted((one, other) => one.fromMs - other.fromMs)
}

/** What is to come never merges with what was: the block would claim that one of them is the other. */
function gapBetween(one: Point, other: Point): number {
  const isSameSide = (one.tally.due === undefined) === (other.tally.due === undefined)
  return isSameSide ? other.fromMs - one.untilMs : Infinity
}

/** How far points are from the ones before and after them; the nearer counts. */
function roomOf(points: readonly Point[], [start, end]: readonly [number, number]): number {
  const [before, after] = [points[start - 1], points[end]]
  const [first, last] = [points[start] as Point, points[end - 1] as Point]
  return Math.min(
    before === undefined ? Infinity : first.fromMs - before.untilMs,
    after === undefined ? Infinity : after.fromMs - last.untilMs,
  )
}

function shapeOf(point: Point, roomPx: number): Item {
  const { fromMs, untilMs, tally } = point
  return { kind: 'shape', fromMs, untilMs, mark: worstOf(tally), count: 1, tally, roomPx, point }
}

interface Block {
  fromMs: number
  untilMs: number
  readonly tally: Counting
}

/** Groups near points into blocks: a block ends where another family represents the next cell. */
function blocksOf(
  points: readonly Point[],
  [start, end]: readonly [number, number],
  cellMs: number,
): readonly Item[] {
  const blocks: Block[] = []
  let cell: Block | undefined
  let cellNumber = Number.NaN
  for (let index = start; index < end; index += 1) {
    const { fromMs, untilMs, tally } = points[index] as Point
    const number = Math.floor(fromMs / cellMs)
    if (cell === undefined || number !== cellNumber) {
      if (cell !== undefined) close(blocks, cell)
      cell = { fromMs, untilMs, tally: { ...tally } }
      cellNumber = number
    } else {
      cell.untilMs = Math.max(cell.untilMs, untilMs)
      addTally(cell.tally, tally)
    }
  }
  if (cell !== undefined) close(blocks, cell)
  return blocks.map(({ fromMs, untilMs, tally }, index) => ({
    kind: 'block',
    fromMs,
    // Blocks of one group touch each other.
    untilMs: blocks[index + 1]?.fromMs ?? untilMs,
    mark: worstOf(tally),
    count: countOf(tally),
    tally,
    roomPx: 0,
  }))
}

/** Adds a cell to the last block if the same family represents both. */
function close(blocks: Block[], cell: Block): void {
  const last = blocks.at(-1)
  if (last === undefined || rankOfTally(last.tally) !== rankOfTally(cell.tally)) {
    blocks.push(cell)
    return
  }
  last.untilMs = cell.untilMs
  addTally(last.tally, cell.tally)
}

function barItem(bar: Bar): Item {
  const { fromMs, untilMs, mark } = bar
  return { kind: 'bar', fromMs, untilMs, mark, count: 1, tally: { [mark]: 1 }, roomPx: Infinity, bar }
}
