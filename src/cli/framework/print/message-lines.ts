import { printable } from '../../../text/printable.js'
import type { PrintStream } from './print-stream.js'
import { wrapIndented } from './wrap.js'

/** The lines of a sentence: one, or as many as a terminal needs where this is one. */
export function messageLines(text: string, { columns }: Pick<PrintStream, 'columns'>, indent = 0): string[] {
  const line = printable(text)
  if (columns === undefined) return [`${' '.repeat(indent)}${line}`]
  // The last column stays free: some terminals begin a new line when it is written.
  return wrapIndented(line, Math.max(leastWidth, columns - 1), { indent, hanging: indent + 2 })
}

/** Narrower than this, wrapped texts are no longer readable. */
const leastWidth = 40
