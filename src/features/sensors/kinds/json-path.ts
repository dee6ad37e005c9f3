import type { Json } from '../../../kernel/definition/json.js'

/** Returns the value at a path, or undefined if there is none. */
export type JsonPath = (value: Json) => Json | undefined

/**
 * Parses a path such as `data.ready`, `$.items[0].name` or `$['a key']`; throws if it is invalid. A path selects
 * one value: there are no wildcards and no filters.
 */
export function parseJsonPath(text: string): JsonPath {
  const steps = stepsOf(text)
  return (value) => steps.reduce<Json | undefined>(stepInto, value)
}

function stepsOf(text: string): readonly (string | number)[] {
  if (text.length > maxPathLength) throw notAPath(text)
  const steps: (string | number)[] = []
  // The first name needs no dot before it, and `$` is the whole value.
  let rest = text.startsWith('$') ? text.slice(1) : text.startsWith('[') ? text : `.${text}`
  while (rest !== '') {
    const match = stepPattern.exec(rest)
    if (match === null) throw notAPath(text)
    const { name, index, quoted } = match.groups ?? {}
    if (index !== undefined) steps.push(Number(index))
    else steps.push(name ?? (quoted ?? '').replace(/\\(.)/g, '$1'))
    rest = rest.slice(match[0].length)
  }
  return steps
}

const maxPathLength = 500

const stepPattern =
  /^(?:\.(?<name>[\p{L}\p{N}_$-]+)|\[(?<index>\d{1,9})\]|\[(?<quote>['"])(?<quoted>(?:\\.|(?!\k<quote>|\\).)*)\k<quote>\])/u

/** Only own properties: a prototype is not data. */
function stepInto(value: Json | undefined, step: string | number): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) return typeof step === 'number' ? (value as readonly Json[])[step] : undefined
  return Object.hasOwn(value, step) ? (value as Readonly<Record<string, Json>>)[step] : undefined
}

function notAPath(text: string): Error {
  return new Error(
    `${JSON.stringify(text.slice(0, 60))} is not a path; write it as data.ready, $.items[0].name or $['a key']`,
  )
}
