import type { Json } from './json.js'
import type { LogLine, StoredError } from '../run/run.js'

/** The most bytes of JSON text that a payload may have. */
export const maxPayloadBytes = 256 * 1024

/** The most bytes of JSON text that a result may have. */
export const maxResultBytes = 64 * 1024

/** The most bytes that the message and the stack of a stored error have together. */
export const maxErrorBytes = 16 * 1024

/** The most log lines of a run. */
export const maxLogLines = 1000

/** The most bytes of a run's log. */
export const maxLogBytes = 256 * 1024

/** The most bytes of one log line. */
export const maxLogLineBytes = 8 * 1024

/** Cuts a text to a number of UTF-8 bytes, never inside a character, and marks the cut at its end. */
export function boundText(text: string, maxBytes: number): string {
  // A UTF-16 unit is at most three bytes, so most texts need no counting.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text
  const bytes = Buffer.from(text)
  let end = Math.max(0, maxBytes - Buffer.byteLength(cutMark))
  while (end > 0 && isContinuation(bytes[end])) end--
  return bytes.toString('utf8', 0, end) + cutMark
}

/** An error whose message and stack fit the limit together; the message has priority. Details larger than a result are left out. */
export function boundError(error: StoredError): StoredError {
  const { code, details } = error
  const message = boundText(error.message, maxErrorBytes)
  const room = maxErrorBytes - Buffer.byteLength(message)
  const hasStack = error.stack !== undefined && room >= Buffer.byteLength(cutMark)
  return {
    code,
    message,
    ...(hasStack ? { stack: boundText(error.stack, room) } : {}),
    ...(details !== undefined && jsonBytes(details) <= maxResultBytes ? { details } : {}),
  }
}

function jsonBytes(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value))
}

/** How much of its size limit a log uses. */
export interface LogUse {
  readonly lines: number
  readonly bytes: number
  /** Whether the last line, which says that the log was cut, was written. */
  readonly isCut: boolean
}

/** The use of an empty log. */
export const emptyLog: LogUse = { lines: 0, bytes: 0, isCut: false }

/** Keeps a log line, truncates it, replaces it by the last line of the log, or drops it. */
export function boundLogLine(
  use: LogUse,
  line: LogLine,
): { readonly use: LogUse; readonly line: LogLine | undefined } {
  if (use.isCut) return { use, line: undefined }
  const text = boundText(line.text, maxLogLineBytes)
  const bytes = use.bytes + Buffer.byteLength(text)
  if (use.lines >= maxLogLines || bytes > maxLogBytes) {
    return { use: { ...use, isCut: true }, line: { ...line, level: 'warn', text: logCutText } }
  }
  return { use: { lines: use.lines + 1, bytes, isCut: false }, line: { ...line, text } }
}

/** The last line of a log that was cut. */
export const logCutText = `[output cut: a run keeps ${maxLogLines} lines and ${maxLogBytes / 1024} KiB of output]`

const cutMark = '… [cut]'

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
