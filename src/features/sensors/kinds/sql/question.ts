import type { SqlCell, StoredValue } from './value.js'

/** One statement that reads, and how long it may take. */
export interface SqlQuestion {
  readonly sql: string
  readonly parameters: readonly StoredValue[]
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** What a statement gave. */
export interface SqlAnswer {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly SqlCell[])[]
}
