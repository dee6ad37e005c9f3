import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  afterPage,
  beginSweeps,
  nextStart,
  type RowPlace,
  type SweepStart,
  type Sweeps,
} from './row-sweep.js'
import type { StoredValue } from './value.js'

/** A row gets its value when it is written, and is visible from its commit on. */
interface Row {
  readonly id: number
  readonly writtenAt: number
  readonly committedAt: number
}

const reachMs = 100
const tick = 10
const beginAt = 500

describe('F7: sweeps over rows that are committed out of order', () => {
  // Around the start, where rows can be missed, and spread evenly.
  const row = fc.record({
    writtenAt: fc.noBias(fc.integer({ min: beginAt - reachMs, max: beginAt + 3 * reachMs })),
    takesMs: fc.oneof(fc.noBias(fc.nat(reachMs)), fc.constant(reachMs)),
  })
  // The time between two polls; some are long.
  const pause = fc.oneof(
    { weight: 9, arbitrary: fc.noBias(fc.integer({ min: 1, max: 40 })) },
    { weight: 1, arbitrary: fc.constant(4 * reachMs) },
  )
  const world = fc.record({
    rows: fc.array(row, { minLength: 1, maxLength: 40, size: 'max' }),
    pauses: fc.array(pause, { minLength: 5, maxLength: 30, size: 'max' }),
    limit: fc.integer({ min: 1, max: 50 }),
  })

  it('F7: find every row that is committed within the look-back', () => {
    fc.assert(
      fc.property(world, ({ rows, pauses, limit }) => {
        const all = rowsOf(rows)
        const { found } = swept(all, { pauses, limit, startFrom: 'beginning' })
        expect([...found].toSorted((a, b) => a - b)).toEqual(all.map(({ id }) => id))
      }),
    )
  })

  it('F7: that start now find every row that is written later, and no existing one', () => {
    fc.assert(
      fc.property(world, ({ rows, pauses, limit }) => {
        const all = rowsOf(rows)
        const { found, beganAt } = swept(all, { pauses, limit, startFrom: 'now' })
        const later = all.filter(({ writtenAt }) => writtenAt >= beganAt + tick)
        const before = all.filter(({ committedAt }) => committedAt <= beganAt)
        expect(later.filter(({ id }) => !found.has(id))).toEqual([])
        expect(before.filter(({ id }) => found.has(id))).toEqual([])
      }),
    )
  })

  it('F7: keep few checkpoints, however many sweeps there are, and read little again if nothing changes', () => {
    const all = rowsOf(Array.from({ length: 1000 }, (_, i) => ({ writtenAt: i, takesMs: 0 })))
    const { sweeps, lastRead } = swept(all, {
      pauses: Array.from({ length: 3000 }, () => 1),
      limit: 50,
      startFrom: 'beginning',
    })
    expect(sweeps.checkpoints.length).toBeLessThanOrEqual(18)
    // The rows with the greatest value, and no others.
    expect(lastRead).toBe(tick)
  })
})

/** Polls a simulated database of these rows until after the last commit and the look-back. */
function swept(
  all: readonly Row[],
  world: { pauses: readonly number[]; limit: number; startFrom: 'beginning' | 'now' },
): { found: Set<number>; sweeps: Sweeps; beganAt: number; lastRead: number } {
  const found = new Set<number>()
  let now = beginAt
  const visible = (): Row[] => all.filter(({ committedAt }) => committedAt <= now).toSorted(inOrder)
  const beganAt = now
  let sweeps = beginSweeps({ now, last: placeOf(visible().at(-1)), startFrom: world.startFrom })
  let lastRead = 0
  const pauses = [...world.pauses, ...Array.from({ length: 40 }, () => 15)]
  for (const pause of pauses) {
    now += pause
    let hasMore = true
    while (hasMore) {
      const start = nextStart(sweeps, { now, reachMs })
      const { after } = sweeps
      const rows = visible().filter((row) => isWithin(row, start) && (after === null || isBeyond(row, after)))
      const page = rows.slice(0, world.limit)
      for (const { id } of page) found.add(id)
      hasMore = rows.length > page.length
      lastRead = page.length
      sweeps = afterPage(sweeps, { now, reachMs, last: placeOf(page.at(-1)), hasMore })
      // Pages take time, in which other transactions commit.
      if (hasMore) now += 5
    }
  }
  return { found, sweeps, beganAt, lastRead }
}

/** Values are coarse, so that many are equal; ids are not in the order of writing. */
function rowsOf(rows: readonly { writtenAt: number; takesMs: number }[]): readonly Row[] {
  return rows.map(({ writtenAt, takesMs }, id) => ({ id, writtenAt, committedAt: writtenAt + takesMs }))
}

function valueOf({ writtenAt }: Row): number {
  return Math.floor(writtenAt / tick)
}

function inOrder(a: Row, b: Row): number {
  return valueOf(a) - valueOf(b) || a.id - b.id
}

function placeOf(row: Row | undefined): RowPlace | null {
  return row === undefined ? null : { value: stored(valueOf(row)), id: stored(row.id) }
}

function stored(n: number): StoredValue {
  return { type: 'integer', text: String(n) }
}

function isWithin(row: Row, start: SweepStart): boolean {
  switch (start.kind) {
    case 'beginning':
      return true
    case 'at':
      return valueOf(row) >= Number(start.value.text)
    case 'after':
      return isBeyond(row, start.place)
  }
}

function isBeyond(row: Row, { value, id }: RowPlace): boolean {
  const difference = valueOf(row) - Number(value.text) || row.id - Number(id.text)
  return difference > 0
}
