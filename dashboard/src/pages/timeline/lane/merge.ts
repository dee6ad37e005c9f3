/**
 * Puts the points of a lane together for one zoom. What it makes depends on the zoom alone and not on where the stretch
 * begins, so that moving the timeline changes nothing but positions.
 */
import { marks, type Mark } from '../../../design/families.js'
import { addTally, countOf, worstOf, type Bar, type Point, type Tally } from './points.js'

/** What is drawn on a lane, and what the cursor stands on. */
export interface Item {
  /** A shape, several instants as a block, or a hatched bar. */
  readonly kind: 'shape' | 'block' | 'bar'
  readonly fromMs: number
  readonly untilMs: number
  /** The state that stands for it. */
  readonly mark: Mark
  readonly count: number
  readonly tally: Tally
  /** The room of a shape, in pixels, up to the next one. */
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
    const group = points.slice(start, end)
    const [only] = group
    if (group.length === 1 && only !== undefined && countOf(only.tally) === 1) {
      items.push(shapeOf(only, { before: points[start - 1], after: points[end], msPerPx }))
    } else {
      items.push(...blocksOf(group, cellPx * msPerPx))
    }
    start = end
  }
  for (const bar of bars) items.push(barItem(bar))
  return items.toSorted((one, other) => one.fromMs - other.fromMs)
}

/** What is to come never merges with what was: the block would claim that one of them is the other. */
function gapBetween(one: Point, other: Point): number {
  const isSameSide = (one.tally.due === undefined) === (other.tally.due === undefined)
  return isSameSide ? other.fromMs - one.untilMs : Infinity
}

function shapeOf(
  point: Point,
  { before, after, msPerPx }: { before: Point | undefined; after: Point | undefined; msPerPx: number },
): Item {
  const gapMs = Math.min(
    before === undefined ? Infinity : point.fromMs - before.untilMs,
    after === undefined ? Infinity : after.fromMs - point.untilMs,
  )
  const { fromMs, untilMs, tally } = point
  return {
    kind: 'shape',
    fromMs,
    untilMs,
    mark: worstOf(tally),
    count: 1,
    tally,
    roomPx: gapMs / msPerPx,
    point,
  }
}

/** Cuts near points into blocks: one ends where the family that stands for the next cell is another one. */
function blocksOf(group: readonly Point[], cellMs: number): readonly Item[] {
  const cells: { cell: number; fromMs: number; untilMs: number; tally: Tally }[] = []
  for (const { fromMs, untilMs, tally } of group) {
    const cell = Math.floor(fromMs / cellMs)
    const last = cells.at(-1)
    if (last?.cell === cell) {
      last.untilMs = Math.max(last.untilMs, untilMs)
      last.tally = addTally(last.tally, tally)
    } else cells.push({ cell, fromMs, untilMs, tally })
  }
  const blocks: { fromMs: number; untilMs: number; tally: Tally }[] = []
  for (const { fromMs, untilMs, tally } of cells) {
    const last = blocks.at(-1)
    if (last !== undefined && familyOf(last.tally) === familyOf(tally)) {
      last.untilMs = untilMs
      last.tally = addTally(last.tally, tally)
    } else blocks.push({ fromMs, untilMs, tally })
  }
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

function familyOf(tally: Tally): string {
  return marks[worstOf(tally)].family
}

function barItem(bar: Bar): Item {
  const { fromMs, untilMs, mark } = bar
  return { kind: 'bar', fromMs, untilMs, mark, count: 1, tally: { [mark]: 1 }, roomPx: Infinity, bar }
}
