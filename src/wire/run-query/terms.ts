/** Splits the text of a query into its terms. It reads the text once, whatever it contains. */

/** The longest query, in characters. */
export const longestQuery = 1000

/** The most terms of a query. */
export const mostTerms = 32

/** One term: `state:failed,cancelled`, or a word without a name. */
export interface Term {
  /** The text before the colon; undefined for a word. */
  readonly name: string | undefined
  /** The values, which commas separate. */
  readonly items: readonly string[]
  /** Where it is in the text. */
  readonly from: number
  readonly to: number
  /** Where its value begins. */
  readonly valueFrom: number
}

/** A fault of a part of a query, and what is allowed there. */
export interface QueryFault {
  readonly from: number
  readonly to: number
  readonly message: string
  readonly allowed?: string | undefined
}

/** The terms of a text, and its faults. */
export function splitTerms(text: string): { terms: readonly Term[]; faults: readonly QueryFault[] } {
  if (text.length > longestQuery) {
    const message = `the filter has ${text.length} characters`
    const fault = { from: longestQuery, to: text.length, message, allowed: `at most ${longestQuery}` }
    return { terms: [], faults: [fault] }
  }
  const terms: Term[] = []
  const faults: QueryFault[] = []
  const reader = new Reader(text, faults)
  for (let term = reader.next(); term !== undefined; term = reader.next()) {
    terms.push(term)
    if (terms.length <= mostTerms) continue
    const { from } = term
    faults.push({ from, to: text.length, message: 'the filter has too many terms', allowed: `${mostTerms}` })
    break
  }
  return { terms, faults }
}

class Reader {
  readonly #text: string
  readonly #faults: QueryFault[]
  #at = 0

  constructor(text: string, faults: QueryFault[]) {
    this.#text = text
    this.#faults = faults
  }

  next(): Term | undefined {
    while (isSpace(this.#text[this.#at])) this.#at++
    if (this.#at >= this.#text.length) return undefined
    const from = this.#at
    const name = this.#name()
    const valueFrom = this.#at
    const items = name === undefined ? [this.#item(false)] : this.#list()
    return { name, items, from, to: this.#at, valueFrom }
  }

  /** The name before a colon; undefined if the term is a word. */
  #name(): string | undefined {
    let end = this.#at
    while (isNameCharacter(this.#text[end])) end++
    if (end === this.#at || this.#text[end] !== ':') return undefined
    const name = this.#text.slice(this.#at, end)
    this.#at = end + 1
    return name
  }

  #list(): string[] {
    const items = [this.#item(true)]
    while (this.#text[this.#at] === ',') {
      this.#at++
      items.push(this.#item(true))
    }
    return items
  }

  #item(isInList: boolean): string {
    if (this.#text[this.#at] === '"') return this.#quoted()
    const from = this.#at
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at]
      if (isSpace(character) || (isInList && character === ',')) break
      this.#at++
    }
    return this.#text.slice(from, this.#at)
  }

  #quoted(): string {
    const from = this.#at++
    let value = ''
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at++] as string
      if (character === '"') return value
      value += character === '\\' ? (this.#text[this.#at++] ?? '') : character
    }
    this.#faults.push({ from, to: this.#at, message: 'the quote does not end', allowed: 'another "' })
    return value
  }
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\t' || character === '\n' || character === '\r'
}

/** Names have letters; those of labels also digits, points, dashes and underscores. */
function isNameCharacter(character: string | undefined): boolean {
  return character !== undefined && /[A-Za-z0-9._-]/.test(character)
}
