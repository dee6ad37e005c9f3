import { printable } from '../../../text/printable.js'
import type { Output } from './output.js'
import type { TimeText } from './time-text.js'
import { valueText } from './value-text.js'
import { wrap } from './wrap.js'

/** The printed fields of a record: each name with a key, or with a function that formats it. */
export type Fields<Row> = Readonly<
  Record<string, (keyof Row & string) | ((row: Row, times: TimeText) => FieldText)>
>

/** The text of a field, or its lines. */
type FieldText = string | readonly string[] | undefined

/** Prints one name and value per line, without empty fields. A key that ends in `At` prints as a time. */
export function printFields<Row extends object>(out: Output, row: Row, fields: Fields<Row>): void {
  const times = out.times()
  const textOf = (field: Fields<Row>[string]): FieldText =>
    typeof field === 'function' ? field(row, times) : valueText(field, row[field], (at) => times.exact(at))
  const all = Object.entries(fields).map(([name, field]) => ({ name, lines: [textOf(field) ?? []].flat() }))
  const shown = all.filter(({ lines }) => lines.some((line) => line !== ''))
  const width = Math.max(0, ...shown.map(({ name }) => name.length))
  for (const { name, lines } of shown) {
    const room = Math.max(leastRoom, out.width - width - 2)
    const [first = '', ...rest] = lines.flatMap((line) => wrap(printable(line), room))
    out.line(`${out.colors.dim(name.padEnd(width))}  ${first}`)
    for (const line of rest) out.line(`${' '.repeat(width + 2)}${line}`)
  }
}

/** Narrower than this, a value is not wrapped any further. */
const leastRoom = 20
