import { createHash } from 'node:crypto'
import type { Json } from '../../../../kernel/definition/json.js'
import { mapOf, optional, text, type StateOf } from '../state-table.js'

/** A value of a database: the name of its type, and its text; undefined is NULL. */
export interface SqlCell {
  readonly type: string
  readonly text: string | undefined
}

/** A value as JSON with its type, so that it can be stored and compared; a long one as a digest. */
export const storedValue = mapOf({ type: text, text: optional(text), sha256: optional(text) })

/** A value as a state stores it. */
export type StoredValue = StateOf<typeof storedValue>

/** A query and its time limit. */
export interface SqlQuestion {
  readonly sql: string
  readonly parameters: readonly StoredValue[]
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** The result of a statement. */
export interface SqlAnswer {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly SqlCell[])[]
}

/** A value as passed to functions of the user: NULL is null, integers beyond the safe range are bigint. */
export type SqlValue = null | boolean | number | bigint | string | Date | Uint8Array

/** A row by the names of its columns. */
export type SqlRow = Readonly<Record<string, SqlValue>>

/** Converts a value to its stored form. */
export function storedValueOf({ type, text }: SqlCell): StoredValue {
  if (text === undefined) return { type: 'null' }
  if (type !== 'blob' && text.length <= longestText) return { type, text }
  return { type, sha256: createHash('sha256').update(text).digest('hex') }
}

const longestText = 1024

/** Whether two values are the same value of the same type. */
export function isSameValue(a: StoredValue, b: StoredValue): boolean {
  return a.type === b.type && a.text === b.text && a.sha256 === b.sha256
}

/** A short text of a value, the same for equal values: its text if it is short and plain, otherwise a digest. */
export function shortText({ type, text, sha256 }: StoredValue): string {
  if (text === undefined) return sha256 ?? type
  // oxlint-disable-next-line no-control-regex
  const isPlain = text.length <= 200 && !/[\u0000-\u001f\u007f]/.test(text)
  return isPlain ? text : createHash('sha256').update(text).digest('hex')
}

/** Converts a value for a function. Types without a counterpart in JavaScript are passed as text. */
export function sqlValueOf({ type, text }: SqlCell): SqlValue {
  if (text === undefined) return null
  switch (type) {
    case 'integer': {
      const number = Number(text)
      return Number.isSafeInteger(number) ? number : BigInt(text)
    }
    case 'real':
      return Number(text)
    case 'boolean':
      return text === 'true'
    case 'timestamptz':
      return instantOf({ type, text }) === undefined ? text : new Date(text)
    case 'blob':
      return Buffer.from(text, 'hex')
    default:
      return text
  }
}

/** Converts a value for a payload: numbers that JSON cannot represent exactly as text, a blob or a very long text as its digest. */
export function jsonValueOf(cell: SqlCell): Json {
  if (cell.type === 'blob' || (cell.text?.length ?? 0) > longestPayloadText) return storedValueOf(cell)
  const value = sqlValueOf(cell) as Exclude<SqlValue, Uint8Array>
  const isExact = typeof value !== 'number' || Number.isFinite(value)
  return typeof value === 'bigint' || value instanceof Date || !isExact ? (cell.text ?? null) : value
}

const longestPayloadText = 65_536

/** The instant of a value in milliseconds; undefined if it is not one. */
export function instantOf({ type, text }: { type: string; text?: string | undefined }): number | undefined {
  const at = type === 'timestamptz' && text !== undefined ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}
