import { printable } from '../../../text/printable.js'
import { displayWidth } from './display-width.js'
import type { PrintStream } from './print-stream.js'

/** Breaks a text at spaces into lines of at most a width; a longer word is not split. */
export function wrap(text: string, width: number, firstWidth = width): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    const room = lines.length === 0 ? firstWidth : width
    if (displayWidth(longer) > room && line !== '') {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}

/** The indents of the first line and of the following lines. */
export interface Indents {
  readonly indent: number
  readonly hanging: number
}

/** Breaks a text into indented lines of at most a width. */
export function wrapIndented(text: string, width: number, { indent, hanging }: Indents): string[] {
  const [first = '', ...rest] = wrap(text, width - hanging, width - indent)
  return [`${' '.repeat(indent)}${first}`, ...rest.map((line) => `${' '.repeat(hanging)}${line.trimStart()}`)]
}

/** The output of a wrapped text. */
export interface Lines {
  readonly width: number
  line(text?: string): void
}

/** Prints a text wrapped to the width of the output. */
export function printWrapped(out: Lines, text: string, indents: Indents): void {
  for (const line of wrapIndented(text, out.width, indents)) out.line(line)
}

/** The lines of a sentence: one, or wrapped for a terminal. */
export function messageLines(text: string, { columns }: Pick<PrintStream, 'columns'>, indent = 0): string[] {
  const line = printable(text)
  if (columns === undefined) return [`${' '.repeat(indent)}${line}`]
  // The last column stays free: some terminals begin a new line when it is written.
  return wrapIndented(line, Math.max(leastWidth, columns - 1), { indent, hanging: indent + 2 })
}

/** Narrower than this, wrapped texts are no longer readable. */
const leastWidth = 40
