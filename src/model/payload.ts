import { maxPayloadBytes } from './bounds.js'
import { RotaError, type ErrorCode } from './errors.js'
import { frozen } from './frozen.js'
import type { Json } from './json.js'
import { isMap } from './read-value.js'
import { shown } from './faults.js'

/** A frozen copy of a payload, as it will come back from the store; throws where JSON cannot carry it. */
export function toPayload(value: unknown): Json | undefined {
  const problem = payloadFault(value)
  if (problem !== undefined)
    throw new RotaError(problem.code, `payload: ${problem.message} (allowed: ${problem.allowed})`)
  return copyJson(value)
}

/** What keeps a value from being a payload. */
export interface PayloadFault {
  readonly code: Extract<ErrorCode, 'PAYLOAD_INVALID' | 'PAYLOAD_TOO_LARGE'>
  readonly message: string
  readonly allowed: string
}

/** What keeps a value from being a payload, if anything does. */
export function payloadFault(value: unknown): PayloadFault | undefined {
  if (value === undefined) return undefined
  const message = notJson(value, '', 0)
  if (message !== undefined) return { code: 'PAYLOAD_INVALID', message, allowed: 'what JSON can carry' }
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes <= maxPayloadBytes) return undefined
  const size = `${bytes} bytes of JSON are too many`
  return { code: 'PAYLOAD_TOO_LARGE', message: size, allowed: `at most ${maxPayloadBytes} bytes` }
}

/** A frozen copy of a value that JSON can carry; parsing it keeps a key such as `__proto__` a plain key. */
export function copyJson(value: unknown): Json | undefined {
  return value === undefined ? undefined : frozen(JSON.parse(JSON.stringify(value)) as Json)
}

const deepest = 100

/** JSON would turn such values into others without a word, so they are refused by name. */
function notJson(value: unknown, path: string, depth: number): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : refusal(String(value), path)
  if (depth > deepest) return refusal(`something deeper than ${deepest} levels`, '')
  if (Array.isArray(value)) {
    // By index, since a hole would be passed over by an iteration over what is there.
    return firstProblem(value.length, (index) => notJson(value[index], `${path}[${index}]`, depth + 1))
  }
  if (!isMap(value) || typeof value['toJSON'] === 'function') return refusal(shown(value), path)
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return firstProblem(entries.length, (index) => {
    const [key, item] = entries[index] as [string, unknown]
    return notJson(item, path === '' ? key : `${path}.${key}`, depth + 1)
  })
}

function firstProblem(count: number, problemOf: (index: number) => string | undefined): string | undefined {
  for (let index = 0; index < count; index++) {
    const problem = problemOf(index)
    if (problem !== undefined) return problem
  }
  return undefined
}

function refusal(what: string, path: string): string {
  return `${what}${path === '' ? '' : ` at ${path}`} does not survive JSON`
}
