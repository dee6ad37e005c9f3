import { codeText, quotedText } from '../../text/error-text.js'
import { printable } from '../../text/printable.js'
import type { Chosen } from './subcommand.js'
import type { Argument, Option, Syntax } from './syntax.js'
import type { GuessableFault } from './usage-error.js'

/** The arguments of a command, checked against its declaration. */
export class Arguments {
  readonly #values: ReadonlyMap<string, readonly string[]>
  readonly #words: readonly string[]
  /** The words after ` -- `. */
  readonly rest: readonly string[]

  constructor(parsed: Parsed) {
    this.#values = parsed.values
    this.#words = parsed.words
    this.rest = parsed.rest
  }

  /** The required word at a position. */
  word(index: number): string {
    return this.#words[index] ?? ''
  }

  /** The word at a position, if there is one. */
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

/** Words and values, in order. */
export interface Parsed {
  readonly values: ReadonlyMap<string, readonly string[]>
  readonly words: readonly string[]
  readonly rest: readonly string[]
}

/** Every command has it. */
export const helpOption: Option = { name: 'help', short: 'h', help: 'show this help' }

/** Reads the words after a command's name; throws one error with all faults. */
export async function parseArguments(chosen: Chosen): Promise<Arguments> {
  const reader = new Reader(chosen)
  const parsed = reader.read(chosen.argv)
  if (parsed.values.has(helpOption.name)) return new Arguments(parsed)
  reader.checkWords(parsed.words)
  reader.checkRequired()
  if (reader.faults.length === 0) return new Arguments(parsed)
  // Loaded only for an error, so that correct command lines start faster.
  const { usageError, withGuess } = await import('./usage-error.js')
  throw usageError(reader.faults.map(withGuess), `see \`rota ${chosen.path} --help\``)
}

class Reader {
  readonly faults: GuessableFault[] = []
  readonly #path: string
  readonly #command: Syntax
  readonly #siblings: readonly Syntax[]
  readonly #options: readonly Option[]
  readonly #values = new Map<string, string[]>()
  readonly #words: string[] = []
  #hasUnknown = false

  constructor({ command, path, parent }: Chosen) {
    this.#command = command
    this.#path = path
    this.#siblings = parent?.subcommands ?? []
    this.#options = [...(command.options ?? []), helpOption]
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
    const { arguments: expected = [], subcommands, run } = this.#command
    if (subcommands !== undefined && expected.length === 0) {
      if (words.length > 0 || run === undefined) this.#refuseSubcommand(words[0], subcommands)
      return
    }
    for (const argument of missingOf(expected, words.length)) {
      this.#fault(`<${argument.name}>`, `missing argument <${argument.name}>`, argument.choices?.join(', '))
    }
    for (const [index, argument] of expected.entries()) {
      const word = words[index]
      if (word !== undefined) this.#checkWord(argument, word)
    }
    // A word after an unknown option is probably its value.
    if (!this.#hasUnknown) this.#refuseSurplus(words.slice(expected.length), expected)
  }

  checkRequired(): void {
    for (const { name, isRequired } of this.#options) {
      if (isRequired === true && !this.#values.has(name))
        this.#fault(`--${name}`, `missing option \`--${name}\``)
    }
  }

  #refuseSubcommand(word: string | undefined, subcommands: readonly Syntax[]): void {
    const known = subcommands.map(({ name }) => name)
    const allowed = known.join(', ')
    if (word === undefined) this.#fault('', 'missing subcommand', allowed)
    else {
      const message = `unknown subcommand ${codeText(word)}`
      this.faults.push({ path: '', message, allowed, guess: { word, known } })
    }
  }

  #refuseSurplus(surplus: readonly string[], expected: readonly Argument[]): void {
    const last = expected.at(-1)
    if (last?.quoted !== undefined && surplus.length > 0) {
      const message = `<${last.name}> came as ${surplus.length + 1} words; put it in quotes`
      this.#fault(`<${last.name}>`, message, last.quoted)
      return
    }
    const most = expected.length === 0 ? 'no arguments' : `at most ${expected.length}`
    for (const word of surplus) {
      this.#fault(codeText(word), `unexpected argument; \`rota ${this.#path}\` takes ${most}`)
    }
  }

  #checkWord({ name, choices }: Argument, word: string): void {
    const problem = textProblem(word)
    if (problem !== undefined) this.#fault(`<${name}>`, ...problem)
    else if (choices !== undefined) this.#checkChoice(`<${name}>`, word, choices)
  }

  #checkChoice(path: string, value: string, choices: readonly string[]): void {
    if (choices.includes(value)) return
    const guess = { word: value, known: choices }
    this.faults.push({
      path,
      message: `unknown value ${quotedText(value)}`,
      allowed: choices.join(', '),
      guess,
    })
  }

  /** Stores one option; returns how many words after it belong to it. */
  #take(option: Option, word: string, following: string | undefined): 0 | 1 {
    const path = `--${option.name}`
    const equals = word.startsWith('--') ? word.indexOf('=') : -1
    const attached = equals === -1 ? undefined : word.slice(equals + 1)
    const values = this.#values.get(option.name) ?? []
    this.#values.set(option.name, values)
    if (option.value === undefined) {
      if (attached !== undefined) this.#fault(path, `\`${path}\` takes no value`)
      return 0
    }
    const value = attached ?? following
    if (value === undefined || (attached === undefined && this.#isKnownOption(value))) {
      this.#fault(path, `\`${path}\` needs a value <${option.value}>`)
      return 0
    }
    if (values.length > 0 && option.isList !== true) this.#fault(path, `\`${path}\` is given twice`)
    values.push(value)
    const problem = option.isContent === true ? undefined : textProblem(value)
    if (problem === undefined) this.#checkValue(option, value)
    else this.#fault(path, ...problem)
    return attached === undefined ? 1 : 0
  }

  #checkValue({ name, choices, isSeveral, whole }: Option, value: string): void {
    const values = isSeveral === true ? value.split(',') : [value]
    if (choices !== undefined) for (const one of values) this.#checkChoice(`--${name}`, one, choices)
    if (whole === undefined) return
    const [min, max] = whole
    const isWhole = /^-?\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max
    const allowed = `a whole number from ${min} to ${max}`
    if (!isWhole) this.#fault(`--${name}`, `${quotedText(value)} is not allowed`, allowed)
  }

  #optionOf(word: string): Option | undefined {
    const option = this.#find(word)
    if (option !== undefined) return option
    this.#hasUnknown = true
    const name = word.replace(/=.*/s, '')
    const shown = codeText(name)
    const path = shown.startsWith('`') ? name : ''
    const owners = this.#siblings.filter(({ options = [] }) => options.some((one) => isNamed(one, name)))
    const elsewhere = owners.map((owner) => owner.name).join(', ')
    const known = this.#options.map((one) => `--${one.name}`)
    const message = `unknown option ${shown}`
    if (owners.length === 0) this.faults.push({ path, message, guess: { word: name, known } })
    else this.#fault(path, `\`rota ${this.#path}\` has no option ${shown}`, `with ${elsewhere}`)
    return undefined
  }

  #find(word: string): Option | undefined {
    const name = word.startsWith('--') ? word.replace(/=.*/s, '') : word
    return this.#options.find((option) => isNamed(option, name))
  }

  /** A value may begin with a dash, such as `-2h`, unless it is the name of another option. */
  #isKnownOption(value: string): boolean {
    return value !== '-' && looksLikeOption(value) && this.#find(value) !== undefined
  }

  #fault(path: string, message: string, allowed?: string): void {
    this.faults.push({ path, message, allowed })
  }
}

/** The missing required arguments; after a missing optional one, nothing is required. */
function missingOf(expected: readonly Argument[], given: number): readonly Argument[] {
  const absent = expected.slice(given)
  const optional = absent.findIndex(({ isOptional }) => isOptional === true)
  return optional === -1 ? absent : absent.slice(0, optional)
}

function isNamed({ name, short, formerly }: Option, word: string): boolean {
  return word === `--${name}` || word === `-${short}` || (formerly !== undefined && word === `--${formerly}`)
}

/** The fault of a text that should be a name, path, time or similar, and what is allowed. */
function textProblem(text: string): [message: string, allowed?: string] | undefined {
  // Probably an unset variable of a script.
  if (text === '') return ['the value is empty']
  if (text.length > longestText) {
    return [
      `the value has ${text.length} characters: ${quotedText(text)}`,
      `at most ${longestText} characters`,
    ]
  }
  if (printable(text) !== text || text.includes('\t')) {
    return [`${quotedText(text)} has characters that cannot be printed`, 'text without control characters']
  }
  return undefined
}

/** The longest path. */
const longestText = 4096

/** A dash alone means standard input, and `-2h` is a time. */
function looksLikeOption(word: string): boolean {
  return word.startsWith('-') && word !== '-' && !/^-\d/.test(word)
}
