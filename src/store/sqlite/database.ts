import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'

/** What a statement takes and gives. */
export type SqlValue = string | number | null

/** What a statement that writes did. */
export interface Written {
  readonly changes: number
  /** The key of the last row it inserted. */
  readonly lastKey: number
}

/** The driver behind a few typed verbs; every statement is prepared once. */
export class Database {
  readonly #driver: DatabaseSyncInstance
  readonly #statements = new Map<string, StatementSyncInstance>()
  readonly #texts = new Map<string, StatementSyncInstance>()

  constructor(driver: DatabaseSyncInstance) {
    this.#driver = driver
  }

  get isInTransaction(): boolean {
    return this.#driver.isTransaction
  }

  run(sql: string, ...parameters: readonly SqlValue[]): Written {
    const { changes, lastInsertRowid } = this.#prepared(sql).run(...parameters)
    return { changes, lastKey: Number(lastInsertRowid) }
  }

  /** How many rows a statement changed. */
  change(sql: string, ...parameters: readonly SqlValue[]): number {
    return this.#prepared(sql).run(...parameters).changes
  }

  get<Row>(sql: string, ...parameters: readonly SqlValue[]): Row | undefined {
    return this.#prepared(sql).get(...parameters) as Row | undefined
  }

  all<Row>(sql: string, ...parameters: readonly SqlValue[]): Row[] {
    return this.#prepared(sql).all(...parameters) as Row[]
  }

  /** The first column of the first row. */
  value(sql: string, ...parameters: readonly SqlValue[]): SqlValue | undefined {
    const row = this.#preparedForText(sql).get(...parameters) as SqlValue[] | undefined
    return row?.[0]
  }

  /** The rows that a statement gives as one JSON text: several times faster than an object for each row. */
  json<T>(sql: string, ...parameters: readonly SqlValue[]): T {
    return JSON.parse(this.value(sql, ...parameters) as string) as T
  }

  exec(sql: string): void {
    this.#driver.exec(sql)
  }

  close(): void {
    this.#statements.clear()
    this.#texts.clear()
    this.#driver.close()
  }

  #prepared(sql: string): StatementSyncInstance {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const fresh = this.#driver.prepare(sql)
    this.#statements.set(sql, fresh)
    return fresh
  }

  #preparedForText(sql: string): StatementSyncInstance {
    const known = this.#texts.get(sql)
    if (known !== undefined) return known
    const fresh = this.#driver.prepare(sql)
    fresh.setReturnArrays(true)
    this.#texts.set(sql, fresh)
    return fresh
  }
}
