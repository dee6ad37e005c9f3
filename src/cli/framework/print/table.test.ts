import { describe, expect, it } from 'vitest'
import { displayWidth } from './display-width.js'
import type { Output } from './output.js'
import { PrintStream } from './print-stream.js'
import { printTable } from './table.js'
import { TimeText } from './time-text.js'

const paint = (text: string): string => text

/** The lines of a table on a terminal of a width. */
function printed(
  rows: readonly (readonly string[])[],
  width: number,
  shortest: readonly (number | undefined)[],
  spare: readonly (number | undefined)[] = [],
): string[] {
  const lines: string[] = []
  const out: Output = {
    width,
    colors: { bold: paint, dim: paint, red: paint, green: paint, yellow: paint, cyan: paint },
    line: (text = '') => lines.push(text),
    note: () => undefined,
    say: () => undefined,
    progress: () => undefined,
    json: () => undefined,
    isJson: false,
    show: () => undefined,
    times: () => new TimeText({ zone: 'UTC', now: 0 }),
    stdout: new PrintStream(process.stdout),
    stderr: new PrintStream(process.stderr),
  }
  const columns = shortest.map((least, index) => ({
    title: 'ABCD'[index] ?? '',
    text: (row: readonly string[]) => row[index] ?? '',
    ...(least === undefined ? {} : { shortest: least }),
    ...(spare[index] === undefined ? {} : { spare: spare[index] }),
  }))
  printTable(out, rows, columns)
  return lines
}

describe('a table', () => {
  it('is as wide as its texts if they fit', () => {
    expect(
      printed(
        [
          ['one', 'two'],
          ['three', 'x'],
        ],
        80,
        [2, 2],
      ),
    ).toEqual(['A      B', 'one    two', 'three  x'])
  })

  it('truncates the widest columns that may be truncated, and marks it', () => {
    expect(printed([['abcdefghij', 'klmnopqrst']], 16, [undefined, 3])).toEqual([
      'A           B',
      'abcdefghij  klm…',
    ])
  })

  it('never wraps and never breaks a wide character', () => {
    const lines = printed([['日本語のテキスト', '😀😀😀😀😀😀']], 20, [4, 4])
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(20)
    expect(lines[1]).toContain('…')
  })

  it('leaves out spare columns that do not fit, the first spare one first', () => {
    const row = ['aaaa', 'bbbb', 'cccc', 'dddd']
    const least = [undefined, undefined, undefined, 2]
    const spare = [undefined, 2, 1, undefined]
    expect(printed([row], 20, least, spare)[1]).toBe('aaaa  bbbb  cccc  d…')
    expect(printed([row], 19, least, spare)[1]).toBe('aaaa  bbbb  dddd')
    expect(printed([row], 12, least, spare)[1]).toBe('aaaa  dddd')
    expect(printed([row], 3, least, spare)[1]).toBe('aaaa  d…')
  })

  it('leaves out empty columns and escapes control characters', () => {
    expect(printed([['a\nb\u001b[31m', '', 'c\td']], 80, [2, 2, 2])).toEqual([
      'A             C',
      String.raw`a\nb\x1b[31m  c d`,
    ])
  })
})
