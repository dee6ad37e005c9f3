import { boundText, maxLogBytes, maxLogLineBytes, maxLogLines } from '../kernel/definition/bounds.js'
import { printableBytes, wholeCharacters } from '../text/printable.js'

// Below the limits of a run's log, to leave room for the mark of a cut line and for a last line about dropped output.
const maxLineBytes = maxLogLineBytes - 64
const maxLines = maxLogLines - 1
const maxBytes = maxLogBytes - 1024
const tailLines = 20
const newline = 0x0a
const carriageReturn = 0x0d

/** How much output of an attempt may still be logged, shared by its streams. */
export class OutputBudget {
  #lines = 0
  #bytes = 0
  #dropped = 0

  /** Whether a line of this size is logged; after the first line that is not, all are dropped and counted. */
  takes(bytes: number): boolean {
    if (this.#dropped > 0 || this.#lines >= maxLines || this.#bytes + bytes > maxBytes) {
      this.#dropped += bytes
      return false
    }
    this.#lines += 1
    this.#bytes += bytes
    return true
  }

  /** How many bytes were dropped. */
  get dropped(): number {
    return this.#dropped
  }
}

/** Splits one stream into printable lines, with limits for the length and the number of lines. */
export class OutputLines {
  readonly #keep: (line: string) => void
  readonly #budget: OutputBudget
  readonly #tail: string[] = []
  #line: Buffer[] = []
  #length = 0

  constructor(budget: OutputBudget, keep: (line: string) => void) {
    this.#budget = budget
    this.#keep = keep
  }

  /** Processes the next bytes of the stream. */
  write(chunk: Buffer): void {
    let from = 0
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      this.#append(chunk.subarray(from, at))
      this.#endLine()
      from = at + 1
    }
    this.#append(chunk.subarray(from))
  }

  /** Ends the stream; a last line without a newline counts as a line. */
  end(): void {
    if (this.#length > 0) this.#endLine()
  }

  /** The last lines, logged or not, newest last, in at most `characters` characters. */
  tail(lines: number, characters: number): string {
    return this.#tail.slice(-lines).join('\n').slice(-characters)
  }

  #append(bytes: Buffer): void {
    // One byte more than is shown tells that the line was longer; the rest is only counted.
    const room = maxLineBytes + 1 - this.#length
    if (room > 0 && bytes.length > 0) this.#line.push(Buffer.from(bytes.subarray(0, room)))
    this.#length += bytes.length
  }

  #endLine(): void {
    // Escapes are longer than the original, so the printable line is bounded once more.
    const line = boundText(this.#shownLine(), maxLogLineBytes)
    if (this.#tail.push(line) > tailLines) this.#tail.shift()
    // At least one, for the newline that even an empty line has.
    if (this.#budget.takes(Math.max(1, Buffer.byteLength(line)))) this.#keep(line)
    this.#line = []
    this.#length = 0
  }

  #shownLine(): string {
    const bytes = Buffer.concat(this.#line)
    if (this.#length > maxLineBytes) {
      const shown = wholeCharacters(bytes, maxLineBytes)
      return `${printableBytes(shown)}… (${this.#length - shown.length} more bytes)`
    }
    return printableBytes(bytes.at(-1) === carriageReturn ? bytes.subarray(0, -1) : bytes)
  }
}
