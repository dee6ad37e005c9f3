import {
  Composer,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  type Document,
  type Node,
} from 'yaml'
import type { Key } from '../../kernel/definition/faults.js'
import { mostAliases, yamlFaults } from '../yaml-faults.js'

/** A position in a file, counted from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** A fault that prevents a text from being read. */
export interface TextFault extends Position {
  readonly message: string
}

/** A parsed text: its value, and where each part of it was written. */
export interface ConfigText {
  /** Absent if the text cannot be read at all. */
  readonly value?: unknown
  readonly faults: readonly TextFault[]
  /** Where the part at this path begins, or the nearest one that was written. */
  positionOf(keys: readonly Key[]): Position
}

const deepest = 64

/** Reads YAML: one document, no tags, no key twice, bounded in depth and aliases. */
export function readYamlText(text: string): ConfigText {
  const lines = new LineCounter()
  const { documents, tags, deepAt } = documentsOf(text, lines)
  const [document, second] = documents
  if (deepAt !== undefined) return unreadable(lines, deepAt, `deeper than ${deepest} levels`)
  if (document === undefined || isNothing(document)) return unreadable(lines, 0, 'the file is empty')
  const faults = [
    ...document.errors.map(({ message, pos: [offset] }) => ({
      offset,
      message: quoteHint(text, offset) ?? message,
    })),
    ...tags.map((offset) => ({ offset, message: 'tags are not accepted' })),
    ...yamlFaults(document),
    ...(second === undefined ? [] : [{ offset: second.range[0], message: 'only one document is allowed' }]),
  ].map(({ offset, message }) => ({ ...positionAt(lines, offset), message }))
  const positionOf = (keys: readonly Key[]): Position => positionAt(lines, offsetOf(document, keys))
  if (document.errors.length === 0) return valueOf(document, { faults, positionOf })
  return { faults: withBareAsterisks(faults, bareAsterisks(text)), positionOf }
}

/** What to write instead of a value that begins with a reserved character of YAML, as in `cron: @daily`. */
function quoteHint(text: string, offset: number): string | undefined {
  const [word, first] = /^([@`%])[^\s,\]}#]*/.exec(text.slice(offset, offset + 80)) ?? []
  if (word === undefined) return undefined
  return `a value must not begin with ${first} here; write it in quotes: "${word}"`
}

/** Unquoted cron expressions, by line: for YAML each asterisk is an alias, and each would be a fault. */
function bareAsterisks(text: string): ReadonlyMap<number, TextFault> {
  const found = text.split('\n').flatMap((content, index): [number, TextFault][] => {
    const match = /:\s+(\*(?:[\s/][^,}#]*)?)(?=[,}#]|$)/.exec(content)
    const [whole = '', expression = ''] = match ?? []
    if (match === null) return []
    const line = index + 1
    const column = match.index + whole.length - expression.length + 1
    const message = `an asterisk starts an alias here; write the expression in quotes: "${expression.trim()}"`
    return [[line, { line, column, message }]]
  })
  return new Map(found)
}

function withBareAsterisks(
  faults: readonly TextFault[],
  bare: ReadonlyMap<number, TextFault>,
): readonly TextFault[] {
  return [...new Set(faults.map((one) => bare.get(one.line) ?? one))]
}

/** Reads strict JSON; the YAML parser then finds positions and duplicate keys, since JSON is also YAML. */
export function readJsonText(text: string): ConfigText {
  const problem = jsonProblem(text)
  return problem === undefined ? readYamlText(text) : notJson(text, problem)
}

function jsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return (error as SyntaxError).message
  }
}

/**
 * The composer of the YAML parser is recursive: a text that is deep enough would overflow the stack. So the depth is
 * checked while tokens are read, and nothing beyond the limit is composed.
 */
function documentsOf(text: string, lines: LineCounter): Documents {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  const tokens = []
  const tags: number[] = []
  let before = ''
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme.startsWith('!') && before !== scalarMark) tags.push(parser.offset)
    before = lexeme
    for (const token of parser.next(lexeme)) tokens.push(token)
    if (parser.stack.length > deepest) return { documents: [], tags, deepAt: parser.offset }
  }
  for (const token of parser.end()) tokens.push(token)
  // Duplicate keys are checked later, by the text of the keys.
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, schema: 'core' })
  return { documents: [...composer.compose(tokens, true, text.length)] as Document.Parsed[], tags }
}

interface Documents {
  readonly documents: readonly Document.Parsed[]
  /** The offsets of tags: the document keeps only some of them. */
  readonly tags: readonly number[]
  readonly deepAt?: number
}

/** The mark that the lexer puts before a plain value, which may begin with anything inside a block. */
const scalarMark = '\x1f'

function isNothing({ contents, errors }: Document.Parsed): boolean {
  return errors.length === 0 && (contents === null || (isScalar(contents) && contents.source === ''))
}

function valueOf(document: Document.Parsed, text: Pick<ConfigText, 'faults' | 'positionOf'>): ConfigText {
  try {
    return { ...text, value: document.toJS({ maxAliasCount: mostAliases }) as unknown }
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    // An unknown alias already has its fault; the other reason is that aliases expand to too much.
    if (text.faults.length > 0) return text
    return { ...text, faults: [{ ...text.positionOf([]), message: 'aliases of aliases expand to too much' }] }
  }
}

/** The offset of the last part of a path that was written: the name of an option, or an item of a list. */
function offsetOf(document: Document.Parsed, keys: readonly Key[]): number {
  let node: Node | null = document.contents
  let offset = node?.range?.[0] ?? 0
  for (const key of keys) {
    if (isAlias(node)) node = node.resolve(document) ?? null
    const step: { offset: number; node: Node | null } | undefined = stepInto(node, key)
    if (step === undefined) return offset
    ;({ offset, node } = step)
  }
  return offset
}

function stepInto(node: Node | null, key: Key): { offset: number; node: Node | null } | undefined {
  if (isSeq<Node>(node)) {
    const item = node.items[Number(key)]
    return item === undefined ? undefined : { offset: item.range?.[0] ?? 0, node: item }
  }
  if (!isMap<Node, Node | null>(node)) return undefined
  // The last one, because its value counts if a key is written twice.
  const pair = node.items.findLast(
    (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(key),
  )
  return pair === undefined ? undefined : { offset: pair.key.range?.[0] ?? 0, node: pair.value }
}

function notJson(text: string, problem: string): ConfigText {
  const lines = new LineCounter()
  lines.addNewLine(0)
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1)
  const words = problem.replace(/, (\.\.\.)?".* is not valid JSON$| (in|after) JSON at position .*/s, '')
  return unreadable(lines, offsetOfProblem(text, problem), `not JSON: ${words}`)
}

function offsetOfProblem(text: string, problem: string): number {
  const [, position] = /at position (\d+)/.exec(problem) ?? []
  if (position !== undefined) return Number(position)
  const isToken = (end: number): boolean =>
    jsonProblem(text.slice(0, end))?.startsWith('Unexpected token') ?? false
  if (!isToken(text.length)) return text.length
  // The message contains the character but not its position: the shortest prefix with the same problem ends there.
  let low = 0
  let high = text.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (isToken(middle)) high = middle
    else low = middle
  }
  return low
}

function unreadable(lines: LineCounter, offset: number, message: string): ConfigText {
  const at = positionAt(lines, offset)
  return { faults: [{ ...at, message }], positionOf: () => at }
}

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(1, line), column: Math.max(1, col) }
}
