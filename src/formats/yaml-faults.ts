/** Valid YAML that definitions do not allow: keys that are not texts, integers that would be rounded, many aliases. */
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  visit,
  type Alias,
  type Document,
  type Scalar,
  type YAMLMap,
} from 'yaml'
import { exactIntegers, roundedMessage } from '../kernel/definition/exact-integer.js'

/** A fault, and its offset in characters. */
export interface YamlFault {
  readonly offset: number
  readonly message: string
}

/** The most aliases that a document may have. */
export const mostAliases = 100

/** Finds the faults of a document, and replaces its keys by the written texts. */
export function yamlFaults(document: Document.Parsed): YamlFault[] {
  const faults: YamlFault[] = []
  const aliases: Alias[] = []
  const note = (node: unknown, message: string): void => {
    faults.push({ offset: isNode(node) ? (node.range?.[0] ?? 0) : 0, message })
  }
  visit(document, {
    Node: (_, node) => {
      if (isAlias(node)) return aliases.push(node) > mostAliases ? visit.BREAK : undefined
      if (isMap(node)) nameKeys(node, note)
      if (isScalar(node) && isRounded(node))
        note(node, `${roundedMessage(node.source ?? '')} (allowed: ${exactIntegers})`)
      return undefined
    },
  })
  faults.push(...aliasFaults(aliases, document))
  return faults
}

/** Replaces keys by their written texts (`012` is not 12, `true` is not a boolean), and removes other keys. */
function nameKeys(map: YAMLMap, note: (node: unknown, message: string) => void): void {
  const seen = new Set<string>()
  map.items = map.items.filter(({ key }) => {
    const problem = keyProblem(key)
    if (problem !== undefined) note(key, problem)
    if (problem !== undefined || !isScalar(key)) return false
    const text = textOf(key)
    if (seen.has(text)) note(key, 'duplicate key')
    seen.add(text)
    key.value = text
    return true
  })
}

function keyProblem(key: unknown): string | undefined {
  if (isAlias(key)) return 'a key must be written out, not an alias'
  if (!isScalar(key)) return 'a key must be a text, not a list or a map'
  return textOf(key) === '' && key.type === 'PLAIN' ? 'a key is missing' : undefined
}

function textOf({ value, source }: Scalar): string {
  return typeof value === 'string' ? value : (source ?? '')
}

function isRounded({ value, source = '' }: Scalar): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && !/^[^x]*[.e]/i.test(source)
}

/** The fault of too many aliases, otherwise the unknown ones. */
function aliasFaults(aliases: readonly Alias[], document: Document.Parsed): YamlFault[] {
  const isTooMany = aliases.length > mostAliases
  const wrong = isTooMany
    ? aliases.slice(-1)
    : aliases.filter((alias) => alias.resolve(document) === undefined)
  return wrong.map((alias) => ({
    offset: alias.range?.[0] ?? 0,
    message: isTooMany ? `more than ${mostAliases} aliases` : `no anchor before it is named &${alias.source}`,
  }))
}
