import { printable } from '../../../text/printable.js'
import { cutToWidth, displayWidth } from './display-width.js'
import type { Output, Paint } from './output.js'

/** One column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => string
  readonly paint?: (row: Row) => Paint
  readonly isRight?: boolean
  /** It may be cut down to this many columns; without it, it is never cut. */
  readonly shortest?: number
  /** It is left out where the table does not fit without: 1 before 2. */
  readonly spare?: number
}

const gap = '  '

/** Prints rows under their titles, cut to the width of the output; columns with nothing in them are left out. */
export function printTable<Row>(out: Output, rows: readonly Row[], columns: readonly Column<Row>[]): void {
  const cells = columns.map((column) => rows.map((row) => printable(column.text(row)).replaceAll('\t', ' ')))
  const filled = columns.flatMap((column, index) => {
    const texts = cells[index] ?? []
    return texts.some((text) => text !== '') ? [{ column, texts }] : []
  })
  const used = withoutSpare(filled, out.width)
  const widths = fit(
    used.map(({ column, texts }) => ({ wanted: naturalWidth(column, texts), shortest: column.shortest })),
    out.width,
  )
  const { dim } = out.colors
  out.line(
    dim(joined(used.map(({ column }, index) => pad(column.title, widths[index] ?? 0, column.isRight)))),
  )
  for (const [rowIndex, row] of rows.entries()) {
    const painted = used.map(({ column, texts }, index) => {
      const text = pad(texts[rowIndex] ?? '', widths[index] ?? 0, column.isRight)
      return column.paint?.(row)(text) ?? text
    })
    out.line(joined(painted))
  }
}

interface Filled<Row> {
  readonly column: Column<Row>
  readonly texts: readonly string[]
}

/** The columns that fit when each is cut as far as it may be. */
function withoutSpare<Row>(columns: readonly Filled<Row>[], width: number): readonly Filled<Row>[] {
  const least = columns.map(({ column, texts }) => {
    const wanted = naturalWidth(column, texts)
    return Math.min(wanted, column.shortest ?? wanted)
  })
  if (totalWidth(least) <= width) return columns
  const spares = columns.filter(({ column }) => column.spare !== undefined)
  const [first] = spares.toSorted((a, b) => (a.column.spare ?? 0) - (b.column.spare ?? 0))
  if (first === undefined) return columns
  return withoutSpare(
    columns.filter((one) => one !== first),
    width,
  )
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one, 0) + gap.length * Math.max(0, widths.length - 1)
}

function joined(cells: readonly string[]): string {
  return cells.join(gap).trimEnd()
}

function naturalWidth(column: { readonly title: string }, texts: readonly string[]): number {
  return texts.reduce((widest, text) => Math.max(widest, displayWidth(text)), displayWidth(column.title))
}

/** The widths that fit: always the widest column that may be cut gives way. */
function fit(
  columns: readonly { readonly wanted: number; readonly shortest: number | undefined }[],
  width: number,
): number[] {
  const widths = columns.map((column) => column.wanted)
  let over = totalWidth(widths) - width
  for (; over > 0; over--) {
    const candidates = columns.flatMap(({ shortest }, index) => {
      const now = widths[index] ?? 0
      return shortest !== undefined && now > shortest ? [{ index, now }] : []
    })
    const widest = candidates.toSorted((a, b) => b.now - a.now)[0]
    if (widest === undefined) break
    widths[widest.index] = widest.now - 1
  }
  return widths
}

function pad(text: string, width: number, isRight = false): string {
  const cut = cutToWidth(text, width)
  const space = ' '.repeat(Math.max(0, width - displayWidth(cut)))
  return isRight ? space + cut : cut + space
}
