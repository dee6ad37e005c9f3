/**
 * What the timeline reads: pieces of fixed length on a fixed grid, so that a stretch that was read once is never read
 * again when the reader moves away and back.
 */
import type { Timeline } from '../../../../src/client/ui-operations.js'
import { lengthOf, type View } from './axis/view.js'

/** A piece of time on the grid. */
export interface Tile {
  readonly fromMs: number
  readonly untilMs: number
}

const hour = 3_600_000
const day = 24 * hour

/** Lengths of pieces. The server counts runs in a 300th of a piece where there are more runs than that. */
const lengths = [hour, 6 * hour, day, 7 * day, 28 * day, 91 * day]
/** The shortest pieces are taken of which this many are enough; a year has more of the longest ones. */
const enough = 8

/** The pieces that cover a stretch; a little more than it, so that a small move finds them read. */
export function tilesOf(view: View): readonly Tile[] {
  const length = lengths.find((ms) => lengthOf(view) / ms <= enough) ?? 91 * day
  const firstMs = Math.floor((view.fromMs - length / 8) / length) * length
  const tiles: Tile[] = []
  for (let fromMs = firstMs; fromMs < view.untilMs + length / 8; fromMs += length) {
    tiles.push({ fromMs, untilMs: fromMs + length })
  }
  return tiles
}

/** How a piece may still change. */
export type TileLife = 'coming' | 'open' | 'repairable' | 'closed'

/**
 * How a piece may still change: `coming` while it lies in the future, `open` while something in it is to be planned, waits
 * or runs, `repairable` while it holds a failed run, which may be retried; else `closed`.
 */
export function lifeOf({ fromMs, untilMs }: Tile, { at, lanes }: Timeline): TileLife {
  if (Date.parse(at) < fromMs) return 'coming'
  if (Date.parse(at) < untilMs) return 'open'
  const isOpen = lanes.some(
    ({ marks, buckets, due }) =>
      due.length > 0 ||
      (marks ?? []).some(({ state }) => state === 'pending' || state === 'running') ||
      (buckets ?? []).some(({ pending, running }) => pending + running > 0),
  )
  if (isOpen) return 'open'
  const hasFailed = lanes.some(
    ({ marks, buckets }) =>
      (marks ?? []).some(({ state }) => state === 'failed') ||
      (buckets ?? []).some(({ failed }) => failed > 0),
  )
  return hasFailed ? 'repairable' : 'closed'
}
