import { printable } from './printable.js'

/** The longest message of an error, in characters; a longer one loses its middle. */
const longestMessage = 1600

/** The longest part of a message, such as the allowed values. */
const longestPart = 400

/** How many faults the message of an error lists; the error itself keeps them all. */
const mostListed = 20

/**
 * The message of an error. Whatever values it contains, it is one line without control characters, and it is
 * bounded: a name of one megabyte must not become a log line of three.
 */
export function errorText(message: string): string {
  return bounded(message, longestMessage)
}

/** A part of a message, such as the place of a fault. */
export function errorPart(text: string): string {
  return bounded(text, longestPart)
}

/** The lines of a list in a message: the first ones, and how many more there are. */
export function listedLines(lines: readonly string[]): string[] {
  const shown = lines.slice(0, mostListed).map(errorText)
  const more = lines.length - shown.length
  return more === 0 ? shown : [...shown, `… and ${more} more`]
}

/** The beginning of a value, quoted and escaped. */
export function quotedText(text: string): string {
  const cut = text.length > longestValue ? `${wholeStart(text, longestValue)}…` : text
  return printable(JSON.stringify(cut))
}

const longestValue = 60

/** A plain name unchanged, any other text quoted, so that its beginning and end are clear. */
export function namedText(name: string): string {
  return plainName.test(name) ? name : quotedText(name)
}

/** A word of a command line as code; in quotes where that would not be readable. */
export function codeText(word: string): string {
  return /^[\w@%+=:,./-]{1,60}$/.test(word) ? `\`${word}\`` : quotedText(word)
}

const plainName = /^[\p{L}\p{N}][\p{L}\p{N}._:@/+=-]{0,127}$/u

function bounded(text: string, longest: number): string {
  if (text.length <= longest) return printable(text)
  const end = Math.floor(longest / 4)
  const start = longest - end
  const left = text.length - start - end
  return printable(`${wholeStart(text, start)} …${left} characters… ${text.slice(-end)}`)
}

/** A prefix that does not end inside a character. */
function wholeStart(text: string, length: number): string {
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length)
}
