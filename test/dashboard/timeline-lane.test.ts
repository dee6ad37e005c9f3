import { describe, expect, test } from 'vitest'
import * as fc from 'fast-check'
import { itemAt, itemUnder, moveCursor } from '../../dashboard/src/pages/timeline/lane/hit.js'
import { itemsOf } from '../../dashboard/src/pages/timeline/lane/merge.js'
import { countOf, type Point } from '../../dashboard/src/pages/timeline/lane/points.js'
import type { Mark } from '../../dashboard/src/design/marks.js'

const point = (atMs: number, mark: Mark = 'done'): Point => ({
  fromMs: atMs,
  untilMs: atMs,
  tally: { [mark]: 1 },
})
const bucket = (fromMs: number, untilMs: number, tally: Point['tally']): Point => ({ fromMs, untilMs, tally })

describe('merging', () => {
  test('marks four pixels apart stay marks, nearer ones become a block with a count', () => {
    const points = [0, 10, 20, 30].map((ms) => point(ms))
    expect(itemsOf(points, [], 2.5).map(({ kind }) => kind)).toEqual(['shape', 'shape', 'shape', 'shape'])
    expect(itemsOf(points, [], 2.6)).toMatchObject([{ kind: 'block', fromMs: 0, untilMs: 30, count: 4 }])
  })

  test('a block ends where something failed, so that a failure is seen where it was', () => {
    const points = Array.from({ length: 100 }, (_, index) => point(index, index === 50 ? 'failed' : 'done'))
    const items = itemsOf(points, [], 1)
    expect(items.map(({ mark }) => mark)).toEqual(['done', 'failed', 'done'])
    expect(items[1]).toMatchObject({ fromMs: 48, untilMs: 56, tally: { done: 7, failed: 1 } })
  })

  test('runs that the server counted together are a block, even if they are alone', () => {
    expect(itemsOf([bucket(0, 10, { done: 9, failed: 1 })], [], 1)).toMatchObject([
      { kind: 'block', mark: 'failed', count: 10 },
    ])
  })

  test('the future never merges with the past', () => {
    const items = itemsOf([point(0), point(1), point(2, 'due'), point(3, 'due')], [], 10)
    expect(items.map(({ mark, count }) => [mark, count])).toEqual([
      ['done', 2],
      ['due', 2],
    ])
  })

  test('a range costs one item however long it is', () => {
    const bar = { fromMs: 0, untilMs: 10_000_000, mark: 'collapsed', text: '' } as const
    expect(itemsOf([point(5_000_000)], [bar], 1).map(({ kind }) => kind)).toEqual(['bar', 'shape'])
  })

  const lane = fc
    .array(
      fc.tuple(
        fc.integer({ min: 0, max: 5000 }),
        fc.constantFrom<Mark>('done', 'failed', 'running', 'missed'),
      ),
      {
        maxLength: 200,
      },
    )
    .map((entries) => entries.toSorted(([one], [other]) => one - other).map(([ms, mark]) => point(ms, mark)))

  test('no instant is lost or counted twice, at any zoom', () => {
    fc.assert(
      fc.property(lane, fc.integer({ min: 1, max: 3000 }), (points, msPerPx) => {
        const items = itemsOf(points, [], msPerPx)
        expect(items.reduce((sum, { tally }) => sum + countOf(tally), 0)).toBe(points.length)
        for (const { fromMs } of points) expect(itemUnder(items, fromMs)).toBeDefined()
      }),
    )
  })

  test('a shape is four pixels or more from its neighbours, and blocks do not overlap', () => {
    fc.assert(
      fc.property(lane, fc.integer({ min: 1, max: 3000 }), (points, msPerPx) => {
        const items = itemsOf(points, [], msPerPx)
        for (const [index, item] of items.entries()) {
          const next = items[index + 1]
          if (next === undefined) continue
          expect(next.fromMs).toBeGreaterThanOrEqual(item.untilMs)
          if (item.kind === 'shape') expect((next.fromMs - item.untilMs) / msPerPx).toBeGreaterThanOrEqual(4)
        }
      }),
    )
  })
})

describe('the pointer', () => {
  const items = itemsOf([point(0), point(100), point(200, 'failed')], [], 1)

  test('finds the nearest mark within a target of 24 pixels, and nothing beyond', () => {
    expect([itemAt(items, 111, 1)?.fromMs, itemAt(items, 150, 1)]).toEqual([100, undefined])
  })

  test('finds a bar anywhere inside, and prefers a mark on it', () => {
    const bar = { fromMs: 0, untilMs: 1000, mark: 'paused', text: '' } as const
    const both = itemsOf([point(500)], [bar], 1)
    expect([itemAt(both, 800, 1)?.kind, itemAt(both, 500, 1)?.kind]).toEqual(['bar', 'shape'])
  })
})

describe('the arrow keys', () => {
  const lanes = [[point(0), point(100), point(200)], [], [point(90), point(300)]].map((points) =>
    itemsOf(points, [], 1),
  )
  const parts = { itemsOfLane: (lane: number) => lanes[lane] ?? [], lanes: lanes.length, startMs: 110 }

  test('begin at the mark nearest to now', () => {
    expect(moveCursor(undefined, 'right', parts)).toEqual({ lane: 0, atMs: 100 })
  })

  test('go from mark to mark and stay at the ends', () => {
    expect(moveCursor({ lane: 0, atMs: 100 }, 'right', parts)).toEqual({ lane: 0, atMs: 200 })
    expect(moveCursor({ lane: 0, atMs: 200 }, 'right', parts)).toEqual({ lane: 0, atMs: 200 })
    expect(moveCursor({ lane: 0, atMs: 200 }, 'first', parts)).toEqual({ lane: 0, atMs: 0 })
  })

  test('go to the nearest mark of the next lane that has any', () => {
    expect(moveCursor({ lane: 0, atMs: 100 }, 'down', parts)).toEqual({ lane: 2, atMs: 90 })
    expect(moveCursor({ lane: 2, atMs: 300 }, 'up', parts)).toEqual({ lane: 0, atMs: 200 })
    expect(moveCursor({ lane: 2, atMs: 300 }, 'down', parts)).toEqual({ lane: 2, atMs: 300 })
  })
})
