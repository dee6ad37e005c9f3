/** The integers that a JavaScript number represents exactly. */
export const exactIntegers = `${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}, or a text in quotes`

/** The message about an integer that would be rounded. */
export function roundedMessage(written: string): string {
  const text = written.length > 40 ? `${written.slice(0, 40)}…` : written
  return `the integer ${text} would be rounded`
}

/** An integer in a text and its position; lines and columns are counted from 1. */
export interface WrittenInteger {
  readonly text: string
  readonly line: number
  readonly column: number
}

/** The first integer of a JSON text that would be rounded. The text must be valid JSON. */
export function roundedInteger(json: string): WrittenInteger | undefined {
  // Strings are matched as well, so that digits inside them are skipped.
  for (const { 0: token, index } of json.matchAll(tokens)) {
    if (token.length < shortest || token[0] === '"' || !isRounded(token)) continue
    const before = json.slice(0, index).split('\n')
    return { text: token, line: before.length, column: (before.at(-1) ?? '').length + 1 }
  }
  return undefined
}

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
/** Shorter integers are always exact. */
const shortest = 16

function isRounded(token: string): boolean {
  return /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token))
}
