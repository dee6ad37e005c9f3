import { printable } from '../../../text/printable.js'
import { cutToWidth, displayWidth } from './display-width.js'
import { isInstantKey } from '../../../time/dated.js'
import type { Colors, Output } from './output.js'
import type { TimeText } from './time-text.js'
import { keyText, valueText } from './value-text.js'

/** One column of a table: a field of the rows, or a function that formats each. */
export interface Column<Row> {
  /** The field; its name is the default title. A field that ends in `At` prints as a time. */
  readonly key?: keyof Row & string
  /** `(zone)` in it is replaced by the zone of the times. */
  readonly title?: string
  readonly text?: (row: Row, times: TimeText) => string | number | undefined
  /** The colours by text; `*` is for all other texts. */
  readonly colors?: Readonly<Record<string, keyof Colors>>
  /** The colour of a row, if the text does not decide. */
  readonly color?: (row: Row) => keyof Colors | undefined
  /** Right-aligned; numbers and durations always are. */
  readonly isRight?: boolean
  /** It may be truncated to this width; default: never truncated. */
  readonly shortest?: number
  /** It is left out if the table does not fit otherwise: 1 before 2. */
  readonly spare?: number
}

/** The columns of a table, in order; a plain key is a column of that field. */
export type Columns<Row> = readonly (Column<Row> | (keyof Row & string))[]

/** How records are listed. */
export interface List<Row> {
  readonly columns: Columns<Row>
  /** The sentence for an empty list. */
  readonly empty: string
  /** The JSON of a record; default: the whole record. */
  readonly json?: (row: Row) => unknown
}

/** Prints records: as JSON, as a table, or as the sentence that there are none. */
export function printList<Row extends object>(out: Output, rows: readonly Row[], list: List<Row>): void {
  const { columns, empty, json = (row: Row): unknown => row } = list
  out.show(out.isJson ? rows.map(json) : [], () => {
    if (rows.length === 0) out.say(empty)
    else printTable(out, rows, columns)
  })
}

const gap = '  '

/** Prints rows under their titles, truncated to the width of the output; empty columns are left out. */
export function printTable<Row extends object>(
  out: Output,
  rows: readonly Row[],
  columns: Columns<Row>,
): void {
  const times = out.times()
  const all = columns.map((column) =>
    filledOf(times, rows, typeof column === 'string' ? { key: column } : column),
  )
  const used = withoutSpare(
    all.filter(({ texts }) => texts.some((text) => text !== '')),
    out.width,
  )
  const widths = fit(
    used.map(({ title, texts, column }) => ({
      wanted: naturalWidth(title, texts),
      shortest: column.shortest,
    })),
    out.width,
  )
  out.line(
    out.colors.dim(joined(used.map(({ title, isRight }, index) => pad(title, widths[index] ?? 0, isRight)))),
  )
  for (const [rowIndex, row] of rows.entries()) {
    const painted = used.map(({ column, texts, isRight }, index) => {
      const text = texts[rowIndex] ?? ''
      const cell = pad(text, widths[index] ?? 0, isRight)
      const color = column.color?.(row) ?? column.colors?.[text] ?? column.colors?.['*']
      return color === undefined ? cell : out.colors[color](cell)
    })
    out.line(joined(painted))
  }
}

function filledOf<Row extends object>(
  times: TimeText,
  rows: readonly Row[],
  column: Column<Row>,
): Filled<Row> {
  const { key, title = key === undefined ? '' : keyText(key).toUpperCase(), text } = column
  const values = rows.map((row) => (text === undefined ? key && row[key] : text(row, times)))
  const isRight = !isInstantKey(key ?? '') && values.some((value) => typeof value === 'number')
  const texts = values.map((value) => valueText(key, value, (at) => times.short(at)))
  return {
    column,
    title: title.replace('(zone)', `(${times.zone})`),
    texts: texts.map((one) => printable(one).replaceAll('\t', ' ')),
    isRight: column.isRight ?? isRight,
  }
}

interface Filled<Row> {
  readonly column: Column<Row>
  readonly title: string
  readonly texts: readonly string[]
  readonly isRight: boolean
}

/** The columns that fit when each is truncated as far as allowed. */
function withoutSpare<Row>(columns: readonly Filled<Row>[], width: number): readonly Filled<Row>[] {
  const least = columns.map(({ column, title, texts }) => {
    const wanted = naturalWidth(title, texts)
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

function naturalWidth(title: string, texts: readonly string[]): number {
  return texts.reduce((widest, text) => Math.max(widest, displayWidth(text)), displayWidth(title))
}

/** The widths that fit: shortens the widest column that may be truncated, again and again. */
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
