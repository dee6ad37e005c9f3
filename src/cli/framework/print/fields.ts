import { printable } from '../../../text/printable.js'
import type { Output } from './output.js'
import { wrap } from './wrap.js'

/** Prints names and values under each other; what has no value is left out. */
export function printFields(out: Output, fields: readonly Field[]): void {
  const shown = fields.filter(([, value]) => value !== undefined && value !== '')
  const width = Math.max(0, ...shown.map(([name]) => name.length))
  for (const [name, value = ''] of shown) {
    const [first = '', ...rest] = wrap(printable(value), Math.max(leastRoom, out.width - width - 2))
    out.line(`${out.colors.dim(name.padEnd(width))}  ${first}`)
    for (const line of rest) out.line(`${' '.repeat(width + 2)}${line}`)
  }
}

/** Narrower than this, a value is not wrapped any further. */
const leastRoom = 20

/** A name and its value. */
export type Field = readonly [name: string, value: string | undefined]
