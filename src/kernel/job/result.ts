import { boundError, boundText, maxResultBytes } from '../definition/bounds.js'
import { RotaError, type ErrorCode } from '../definition/errors.js'
import type { Json } from '../definition/json.js'
import type { StoredError } from '../run/run.js'

/**
 * The stored result of a handler. A value that is too large or not JSON is replaced by a remark:
 * the work was done, and repeating it only for its result would be worse.
 */
export function resultOf(value: unknown): Json | undefined {
  if (value === undefined || value === null) return undefined
  const text = jsonTextOf(value)
  if (text === undefined) return { rota: 'the result is not JSON and was not stored' }
  if (text.length * 3 <= maxResultBytes || Buffer.byteLength(text) <= maxResultBytes)
    return JSON.parse(text) as Json
  return { rota: 'the result was cut', bytes: Buffer.byteLength(text), head: boundText(text, 1024) }
}

/** The stored form of a thrown value, with its own code if that is a string. */
export function storedErrorOf(thrown: unknown, code: ErrorCode): StoredError {
  if (!(thrown instanceof Error)) return boundError({ code, message: textOf(thrown) })
  const own = (thrown as { code?: unknown }).code
  const causes = causesOf(thrown)
  return boundError({
    code: typeof own === 'string' ? own : code,
    message: thrown.message === '' ? thrown.name : thrown.message,
    stack: [thrown.stack ?? '', ...causes].join('\n'),
    details: thrown instanceof RotaError ? thrown.details : undefined,
  })
}

function causesOf(error: Error): string[] {
  const causes: string[] = []
  let cause = error.cause
  while (cause !== undefined && causes.length < 5) {
    causes.push(`caused by: ${cause instanceof Error ? (cause.stack ?? cause.message) : textOf(cause)}`)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return causes
}

function jsonTextOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return jsonTextOf(value) ?? Object.prototype.toString.call(value)
}
