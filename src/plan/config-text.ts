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
  visit,
  type Alias,
  type Document,
  type Node,
} from 'yaml'
import type { Key } from '../model/faults.js'

/** Where something stands in a file, both counted from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** What keeps a text from being read. */
export interface TextFault extends Position {
  readonly message: string
}

/** A text that was read: its value, and where each part of it was written. */
export interface ConfigText {
  /** Absent where the text cannot be read at all. */
  readonly value?: unknown
  readonly faults: readonly TextFault[]
  /** Where the part at the end of these steps begins, or the nearest one that was written. */
  positionOf(keys: readonly Key[]): Position
}

const deepest = 64
const mostAliases = 100

/** Reads YAML: one document, no tags of its own, no key twice, bounded in depth and aliases. */
export function readYamlText(text: string): ConfigText {
  const lines = new LineCounter()
  const { documents, deepAt } = documentsOf(text, lines)
  const [document, second] = documents
  if (deepAt !== undefined) return unreadable(lines, deepAt, `deeper than ${deepest} levels`)
  if (document === undefined || isNothing(document)) return unreadable(lines, 0, 'the file says nothing')
  const faults = [...document.errors, ...document.warnings].map(({ code, message, pos }) => ({
    ...positionAt(lines, pos[0]),
    message: wordsFor(code) ?? message,
  }))
  faults.push(...aliasFaults(document, lines))
  if (second !== undefined)
    faults.push({ ...positionAt(lines, second.range[0]), message: 'a second document' })
  const positionOf = (keys: readonly Key[]): Position => positionAt(lines, offsetOf(document, keys))
  const isReadable = document.errors.every(({ code }) => code === 'DUPLICATE_KEY')
  if (isReadable) return valueOf(document, { faults, positionOf })
  return { faults: withBareAsterisks(faults, bareAsterisks(text)), positionOf }
}

/** Asterisks where an expression was meant, by line: to YAML each of them is an alias, and each would be a fault. */
function bareAsterisks(text: string): ReadonlyMap<number, TextFault> {
  const found = text.split('\n').flatMap((content, index): [number, TextFault][] => {
    const match = /:\s+(\*(?:[\s/][^,}#]*)?)(?=[,}#]|$)/.exec(content)
    const [whole = '', expression = ''] = match ?? []
    if (match === null) return []
    const line = index + 1
    const column = match.index + whole.length - expression.length + 1
    const message = `an asterisk begins an alias here; write the expression in quotes: "${expression.trim()}"`
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

/** Reads JSON, strictly; YAML, which contains it, then tells where everything stands and finds keys written twice. */
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
 * The parser of YAML works level by level, and what composes its tokens is recursive: a text that is deep enough would
 * end the process. So the depth is watched while tokens are gathered, and nothing is composed beyond the bound.
 */
function documentsOf(text: string, lines: LineCounter): { documents: Document.Parsed[]; deepAt?: number } {
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  const tokens = []
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token)
    if (parser.stack.length > deepest) return { documents: [], deepAt: parser.offset }
  }
  for (const token of parser.end()) tokens.push(token)
  const composer = new Composer({ prettyErrors: false, uniqueKeys: true, schema: 'core' })
  return { documents: [...composer.compose(tokens, true, text.length)] as Document.Parsed[] }
}

function isNothing({ contents, errors }: Document.Parsed): boolean {
  return errors.length === 0 && (contents === null || (isScalar(contents) && contents.source === ''))
}

/** Too many aliases, or else each one that names nothing. */
function aliasFaults(document: Document.Parsed, lines: LineCounter): TextFault[] {
  const aliases: Alias[] = []
  visit(document, { Alias: (_, alias) => (aliases.push(alias) > mostAliases ? visit.BREAK : undefined) })
  const isTooMany = aliases.length > mostAliases
  const wrong = isTooMany
    ? aliases.slice(-1)
    : aliases.filter((alias) => alias.resolve(document) === undefined)
  return wrong.map((alias) => ({
    ...positionAt(lines, alias.range?.[0] ?? 0),
    message: isTooMany ? `more than ${mostAliases} aliases` : `nothing before it is named &${alias.source}`,
  }))
}

function valueOf(document: Document.Parsed, text: Pick<ConfigText, 'faults' | 'positionOf'>): ConfigText {
  try {
    return { ...text, value: document.toJS({ maxAliasCount: mostAliases }) as unknown }
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    // An alias that names nothing has its fault already; what is left is one that stands for too much.
    if (text.faults.length > 0) return text
    return { ...text, faults: [{ ...text.positionOf([]), message: 'aliases of aliases stand for too much' }] }
  }
}

function wordsFor(code: string): string | undefined {
  if (code === 'DUPLICATE_KEY') return 'this key was written before'
  return code === 'TAG_RESOLVE_FAILED' ? 'tags are not taken' : undefined
}

/** The offset of the last step that was written: an option's own name, or an item of a list. */
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
  // The last one, as that is the one whose value counts where a key was written twice.
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
  // The message quotes the character without its place: it ends the shortest beginning with the same problem.
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
