/**
 * A reader for the YAML that most plans are written in: maps and lists in block style, one value per line, flow
 * collections on one line, quotes without escapes. It reads a plan of a thousand entries in a few milliseconds, whereas
 * the full parser takes longer than everything else in a pass.
 *
 * It never guesses. If it is not certain about something, also about a fault, it gives up, and the full parser reads the
 * whole text and reports its faults.
 */

/** The value of a plain text; undefined if the full parser must read it. */
export function readPlainYaml(text: string): { readonly value: unknown } | undefined {
  try {
    const lines = linesOf(text.replaceAll('\r\n', '\n'))
    const value = new Block(lines).whole()
    return { value }
  } catch (error) {
    if (error === notPlain) return undefined
    throw error
  }
}

const notPlain = Symbol('not plain')

function giveUp(): never {
  throw notPlain
}

/** The full parser stops at 64 levels. */
const deepest = 16

interface Line {
  readonly indent: number
  readonly content: string
}

/** Characters that YAML, or a human reader, may interpret differently. */
const unsure = /[^\n\x20-\x7e\u00a1-\u167f\u1681-\u1fff\u2070-\u2fff\u3001-\ud7ff]/

function linesOf(text: string): Line[] {
  if (unsure.test(text)) giveUp()
  const lines: Line[] = []
  for (const raw of text.split('\n')) {
    const content = raw.trimStart()
    if (content !== '' && content[0] !== '#') lines.push({ indent: raw.length - content.length, content })
  }
  const [first] = lines
  return first?.indent === 0 && first.content === '---' ? lines.slice(1) : lines
}

const keyPattern = /^([A-Za-z_][\w-]{0,63}):(?: +(.*))?$/
const itemPattern = /^(- +)(\S.*)$/

/** Reads lines: deeper lines belong to the line before them. */
class Block {
  readonly #lines: Line[]
  #at = 0

  constructor(lines: Line[]) {
    this.#lines = lines
  }

  whole(): unknown {
    const value = this.#map(0, 0)
    if (this.#at < this.#lines.length) giveUp()
    return value
  }

  #map(indent: number, depth: number): Record<string, unknown> {
    const map: Record<string, unknown> = {}
    if (depth > deepest) giveUp()
    for (let line = this.#next(indent); line !== undefined; line = this.#next(indent)) {
      const [, key = '', rest = ''] = keyPattern.exec(line.content) ?? giveUp()
      this.#at++
      const isOpen = rest === '' || rest[0] === '#'
      addTo(map, key, isOpen ? this.#below(indent, depth) : wholeValue(rest))
    }
    return Object.keys(map).length === 0 ? giveUp() : map
  }

  /** The value below a key: a list may have the same indent as the key itself. */
  #below(indent: number, depth: number): unknown {
    const line = this.#lines[this.#at]
    if (line === undefined || line.indent < indent) return giveUp()
    if (itemPattern.test(line.content)) return this.#list(line.indent, depth + 1)
    return line.indent > indent ? this.#map(line.indent, depth + 1) : giveUp()
  }

  #list(indent: number, depth: number): unknown[] {
    const list: unknown[] = []
    if (depth > deepest) giveUp()
    for (let line = this.#next(indent); line !== undefined; line = this.#next(indent)) {
      const [, dash = '', content = ''] = itemPattern.exec(line.content) ?? []
      // The next key of the map that this list belongs to.
      if (content === '') break
      if (keyPattern.test(content)) {
        const inner = indent + dash.length
        this.#lines[this.#at] = { indent: inner, content }
        list.push(this.#map(inner, depth + 1))
      } else {
        this.#at++
        list.push(wholeValue(content))
      }
    }
    return list
  }

  /** The line at the cursor, if it has exactly this indent; a deeper one continues a value that seemed complete. */
  #next(indent: number): Line | undefined {
    const line = this.#lines[this.#at]
    if (line === undefined || line.indent < indent) return undefined
    return line.indent === indent ? line : giveUp()
  }
}

/** Words that are not texts, in any case, or that have a meaning for objects. */
const noKey = /^(?:true|false|null|__proto__)$/i

function addTo(map: Record<string, unknown>, key: string, value: unknown): void {
  if (noKey.test(key) || Object.hasOwn(map, key)) giveUp()
  map[key] = value
}

/** The value of the rest of a line, without a comment. */
function wholeValue(text: string): unknown {
  const flow = new Flow(text)
  const value = flow.value(blockPlain, 0)
  return flow.isAtEnd ? value : giveUp()
}

// Sticky, to match at a position. A colon must be followed by a character, a space by one that begins no comment.
const blockPlain = /[\p{L}\p{N}_./-](?:[^\s#:]|:(?=[^\s#:])| +(?=[^\s#:]))*/uy
const flowPlain =
  /[\p{L}\p{N}_./-](?:[\p{L}\p{M}\p{N}_./+@=()-]|:(?=[\p{L}\p{N}_./])| +(?=[\p{L}\p{N}_./]))*/uy
const quoted = /"([^"\\]*)"|'([^']*)'/y
const flowKey = /(?:([A-Za-z_][\w-]{0,63})|"([^"\\]{0,64})"|'([^']{0,64})') *: +/y
const spaces = / */y
const end = / *(?: #.*)?$/y

/** Reads one line. */
class Flow {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Whether only a comment follows. */
  get isAtEnd(): boolean {
    return this.#take(end) !== undefined
  }

  value(plain: RegExp, depth: number): unknown {
    if (depth > deepest) giveUp()
    const first = this.#text[this.#at]
    if (first === '{') return this.#map(depth)
    if (first === '[') return this.#list(depth)
    if (first === '"' || first === "'") {
      const [, double, single = ''] = this.#take(quoted) ?? giveUp()
      return double ?? single
    }
    const [word] = this.#take(plain) ?? giveUp()
    return meaningOf(word.trimEnd())
  }

  #map(depth: number): Record<string, unknown> {
    const map: Record<string, unknown> = {}
    this.#items('}', () => {
      const [, bare, double, single = ''] = this.#take(flowKey) ?? giveUp()
      addTo(map, bare ?? double ?? single, this.value(flowPlain, depth + 1))
    })
    return map
  }

  #list(depth: number): unknown[] {
    const list: unknown[] = []
    this.#items(']', () => list.push(this.value(flowPlain, depth + 1)))
    return list
  }

  #items(close: string, read: () => void): void {
    this.#at++
    this.#take(spaces)
    if (this.#skip(close)) return
    for (;;) {
      read()
      this.#take(spaces)
      if (this.#skip(close)) return
      if (!this.#skip(',')) giveUp()
      this.#take(spaces)
    }
  }

  #skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found === null) return undefined
    this.#at += found[0].length
    return found
  }
}

const numeral = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?$/
/** May be a number in another notation of YAML, or an indicator. */
const nearNumeral = /^(?:[-.](?!\.?\/)|\d[\da-fA-FxXoOeE._+-]*$)/

/** The value of a plain word. */
function meaningOf(word: string): unknown {
  if (numeral.test(word)) return Number(word)
  if (nearNumeral.test(word)) giveUp()
  switch (word.toLowerCase()) {
    case 'true':
    case 'false':
    case 'null':
      return word === 'true' ? true : word === 'false' ? false : word === 'null' ? null : giveUp()
    default:
      return word
  }
}
