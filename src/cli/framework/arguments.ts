import { namedText, quotedText } from '../../text/error-text.js'
import { printable } from '../../text/printable.js'
import type { Option, Syntax } from './syntax.js'
import type { GuessableFault } from './usage-error.js'

/** What a command was called with, checked against what it declares. */
export class Arguments {
  readonly #values: ReadonlyMap<string, readonly string[]>
  readonly #words: readonly string[]
  /** What followed ` -- `. */
  readonly rest: readonly string[]

  constructor(parsed: Parsed) {
    this.#values = parsed.values
    this.#words = parsed.words
    this.rest = parsed.rest
  }

  /** The word at a position, which the command requires. */
  word(index: number): string {
    return this.#words[index] ?? ''
  }

  /** The word at a position, where there is one. */
  optionalWord(index: number): string | undefined {
    return this.#words[index]
  }

  flag(name: string): boolean {
    return this.#values.has(name)
  }

  text(name: string): string | undefined {
    return this.#values.get(name)?.at(-1)
  }

  whole(name: string): number | undefined {
    const text = this.text(name)
    return text === undefined ? undefined : Number(text)
  }

  list(name: string): readonly string[] {
    return this.#values.get(name) ?? []
  }
}

/** Words and values as they were found, in order. */
export interface Parsed {
  readonly values: ReadonlyMap<string, readonly string[]>
  readonly words: readonly string[]
  readonly rest: readonly string[]
}

/** Every command has it. */
export const helpOption: Option = { name: 'help', short: 'h', help: 'show this help' }

/** Reads the words after a command's name; throws one error with everything that is wrong with them. */
export async function parseArguments(command: Syntax, argv: readonly string[]): Promise<Arguments> {
  const reader = new Reader(command)
  const parsed = reader.read(argv)
  if (!parsed.values.has('help')) reader.checkWords(parsed.words)
  if (reader.faults.length === 0 || parsed.values.has('help')) return new Arguments(parsed)
  // Loaded only now: whoever types right does not wait for it.
  const { usageError, withGuess } = await import('./usage-error.js')
  const hint = `\`rota ${command.name} --help\` shows what it takes`
  throw usageError(reader.faults.map(withGuess), hint)
}

class Reader {
  readonly faults: GuessableFault[] = []
  readonly #command: Syntax
  readonly #values = new Map<string, string[]>()
  readonly #words: string[] = []
  #hasUnknown = false

  constructor(command: Syntax) {
    this.#command = command
  }

  read(argv: readonly string[]): Parsed {
    const end = argv.indexOf('--')
    const named = end === -1 ? argv : argv.slice(0, end)
    const rest = end === -1 ? [] : argv.slice(end + 1)
    for (let index = 0; index < named.length; index++) {
      const word = named[index] as string
      const option = looksLikeOption(word) ? this.#optionOf(word) : undefined
      if (!looksLikeOption(word)) this.#words.push(word)
      else if (option !== undefined) index += this.#take(option, word, named[index + 1])
    }
    if (rest.length > 0 && this.#command.rest === undefined) this.#words.push(...rest)
    return { values: this.#values, words: this.#words, rest: this.#command.rest === undefined ? [] : rest }
  }

  checkWords(words: readonly string[]): void {
    const { arguments: expected } = this.#command
    for (const argument of expected.slice(words.length)) {
      if (argument.isOptional !== true) this.#fault(`<${argument.name}>`, 'it is missing', argument.help)
    }
    for (const [index, argument] of expected.entries()) {
      const problem = textProblem(words[index] ?? '')
      if (index < words.length && problem !== undefined) this.#fault(`<${argument.name}>`, ...problem)
    }
    // A word after an option that does not exist was probably meant for it.
    const surplus = this.#hasUnknown ? [] : words.slice(expected.length)
    const last = expected.at(-1)
    if (last?.quoted !== undefined && surplus.length > 0) {
      const message = `it came as ${surplus.length + 1} words; put it in quotes`
      this.#fault(`<${last.name}>`, message, last.quoted)
      return
    }
    for (const word of surplus) {
      const most = expected.length === 0 ? 'no word' : `at most ${expected.length}`
      this.#fault(namedText(word), `nothing expects this word; ${this.#command.name} takes ${most}`)
    }
  }

  /** Stores one option; tells how many words after it belong to it. */
  #take(option: Option, word: string, following: string | undefined): 0 | 1 {
    const equals = word.startsWith('--') ? word.indexOf('=') : -1
    const attached = equals === -1 ? undefined : word.slice(equals + 1)
    const values = this.#values.get(option.name) ?? []
    this.#values.set(option.name, values)
    if (option.value === undefined) {
      if (attached !== undefined) this.#fault(`--${option.name}`, 'it takes no value')
      return 0
    }
    const value = attached ?? following
    if (value === undefined || (attached === undefined && this.#isKnownOption(value))) {
      this.#fault(`--${option.name}`, 'its value is missing', `<${option.value}>`)
      return 0
    }
    if (values.length > 0 && option.isList !== true) this.#fault(`--${option.name}`, 'it is given twice')
    values.push(value)
    const problem = option.isContent === true ? undefined : textProblem(value)
    if (problem === undefined) this.#checkValue(option, value)
    else this.#fault(`--${option.name}`, ...problem)
    return attached === undefined ? 1 : 0
  }

  #checkValue(option: Option, value: string): void {
    const { choices, whole } = option
    if (choices !== undefined && !choices.includes(value)) {
      this.faults.push({
        path: `--${option.name}`,
        message: `${quotedText(value)} is not one of them`,
        allowed: choices.join(', '),
        guess: { word: value, known: choices },
      })
    }
    if (whole === undefined) return
    const isWhole = /^-?\d{1,15}$/.test(value) && Number(value) >= whole.min && Number(value) <= whole.max
    const allowed = `a whole number from ${whole.min} to ${whole.max}`
    if (!isWhole) this.#fault(`--${option.name}`, `${quotedText(value)} is not allowed`, allowed)
  }

  #optionOf(word: string): Option | undefined {
    const option = this.#find(word)
    if (option !== undefined) return option
    this.#hasUnknown = true
    const name = word.replace(/=.*/s, '')
    const known = this.#command.options.map((one) => `--${one.name}`)
    const path = /^--?[\w-]{1,60}$/.test(name) ? name : quotedText(name)
    this.faults.push({ path, message: 'there is no such option', guess: { word: name, known } })
    return undefined
  }

  #find(word: string): Option | undefined {
    const options = [...this.#command.options, helpOption]
    if (!word.startsWith('--')) return options.find((option) => `-${option.short}` === word)
    const name = word.slice(2).replace(/=.*/s, '')
    return options.find((option) => option.name === name || option.formerly === name)
  }

  /** A value may begin with a dash, as `-2h` does, unless it is the name of another option. */
  #isKnownOption(value: string): boolean {
    return value !== '-' && looksLikeOption(value) && this.#find(value) !== undefined
  }

  #fault(path: string, message: string, allowed?: string): void {
    this.faults.push({ path, message, allowed })
  }
}

/** What is wrong with a text that is meant as a name, path, time or the like, and what is allowed. */
function textProblem(text: string): [message: string, allowed?: string] | undefined {
  // Most likely a variable of a script that somebody forgot to set.
  if (text === '') return ['it is empty']
  if (text.length > longestText) {
    return [`it has ${text.length} characters: ${quotedText(text)}`, `at most ${longestText} characters`]
  }
  if (printable(text) !== text || text.includes('\t')) {
    return [`${quotedText(text)} has characters that cannot be printed`, 'text without control characters']
  }
  return undefined
}

/** As long as a path may be. */
const longestText = 4096

/** A dash alone means standard input, and `-2h` is a time. */
function looksLikeOption(word: string): boolean {
  return word.startsWith('-') && word !== '-' && !/^-\d/.test(word)
}
