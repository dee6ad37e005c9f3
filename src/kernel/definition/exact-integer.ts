/** What an integer may be so that a number holds it exactly. */
export const exactIntegers = `${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}, or a text in quotes`

/** What is wrong with an integer that a number would round. */
export function roundedMessage(written: string): string {
  const text = written.length > 40 ? `${written.slice(0, 40)}…` : written
  return `the integer ${text} would be rounded`
}

/** An integer in a text, and where it begins, both lines and columns counted from 1. */
export interface WrittenInteger {
  readonly text: string
  readonly line: number
  readonly column: number
}

/** The first integer of a JSON text that a number would round. The text has to be valid JSON. */
export function roundedInteger(json: string): WrittenInteger | undefined {
  // Texts are matched as well, so that digits inside them are passed over.
  for (const { 0: token, index } of json.matchAll(tokens)) {
    if (token.length < shortest || token[0] === '"' || !isRounded(token)) continue
    const before = json.slice(0, index).split('\n')
    return { text: token, line: before.length, column: (before.at(-1) ?? '').length + 1 }
  }
  return undefined
}

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
/** No shorter integer is beyond what a number holds. */
const shortest = 16

function isRounded(token: string): boolean {
  return /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token))
}
