import type { SqlCell, StoredValue } from './value.js'

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
