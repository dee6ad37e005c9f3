/** Partitions in rows that people can read: months of days, days of hours, years of months or weeks. */
import type { Partition } from '../../../../src/client/operations.js'

/** A partition, its place among all that are shown, and its column. */
export interface Cell {
  readonly partition: Partition
  readonly index: number
  readonly column: number
}

/** One row: such as a month. */
export interface Row {
  readonly key: string
  readonly cells: readonly Cell[]
}

/** The rows, newest first, and how many columns they have. */
export interface Grid {
  readonly rows: readonly Row[]
  readonly columns: number
  /** The number above the first column; partitions without a time have none. */
  readonly first: number | undefined
}

const kinds = [
  { pattern: /^(\d{4}-\d{2}-\d{2})T(\d{2})/, columns: 24, first: 0 },
  { pattern: /^(\d{4}-\d{2})-(\d{2})$/, columns: 31, first: 1 },
  { pattern: /^(\d{4})-W(\d{2})$/, columns: 53, first: 1 },
  { pattern: /^(\d{4})-(\d{2})$/, columns: 12, first: 1 },
] as const

/** Partitions without a time in their name stand in one row, one after another. */
const plainColumns = 24

/** Puts partitions, in their order, into rows. */
export function gridOf(partitions: readonly Partition[]): Grid {
  const kind = kinds.find(({ pattern }) => partitions.every(({ partition }) => pattern.test(partition)))
  const rows = new Map<string, Cell[]>()
  for (const [index, partition] of partitions.entries()) {
    const [, key = '', number = ''] = kind?.pattern.exec(partition.partition) ?? []
    const plainKey = String(Math.floor(index / plainColumns))
    const cell = {
      partition,
      index,
      column: kind === undefined ? (index % plainColumns) + 1 : Number(number) - kind.first + 1,
    }
    const row = rows.get(kind === undefined ? plainKey : key)
    if (row === undefined) rows.set(kind === undefined ? plainKey : key, [cell])
    else row.push(cell)
  }
  const all = [...rows].map(([key, cells]) => ({ key: kind === undefined ? '' : key, cells }))
  return {
    rows: kind === undefined ? all : all.toReversed(),
    columns: kind?.columns ?? plainColumns,
    first: kind?.first,
  }
}
