import { printable } from '../app/text.js'
import type { Output } from './output.js'

/** Prints names and values under each other; what has no value is left out. */
export function printFields(out: Output, fields: readonly Field[]): void {
  const shown = fields.filter(([, value]) => value !== undefined && value !== '')
  const width = Math.max(0, ...shown.map(([name]) => name.length))
  for (const [name, value = ''] of shown)
    out.line(`${out.colors.dim(name.padEnd(width))}  ${printable(value)}`)
}

/** A name and its value. */
export type Field = readonly [name: string, value: string | undefined]
