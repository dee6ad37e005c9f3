import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'

/** What a statement takes and gives. */
export type SqlValue = string | number | null

/** What a statement that writes did. */
export interface Written {
  readonly changes: number
  /** The key of the last row it inserted. */
  readonly lastKey: number
}

/** A query whose rows come as one text, with the names of its columns. */
interface Listing {
  readonly text: string
  readonly columns: readonly string[]
}

/** The driver behind a few typed verbs; every statement is prepared once. */
export class Database {
  readonly #driver: DatabaseSyncInstance
  readonly #statements = new Map<string, StatementSyncInstance>()
  readonly #texts = new Map<string, StatementSyncInstance>()
  readonly #listings = new Map<string, Listing>()
  #hasChanged = false

  constructor(driver: DatabaseSyncInstance) {
    this.#driver = driver
  }

  get isInTransaction(): boolean {
    return this.#driver.isTransaction
  }

  /** Whether a statement has changed a row since the transaction began. */
  get hasChanged(): boolean {
    return this.#hasChanged
  }

  /** Takes the write lock at once, or throws where another connection has it. */
  begin(): void {
    this.run('begin immediate')
    this.#hasChanged = false
  }

  /** How many commits there were, by the number in the header that SQLite leaves to its users. It wraps at 32 bits. */
  get commitNumber(): number {
    return this.value('pragma user_version') as number
  }

  /** Counts the transaction that is open as a commit; gives its number. */
  countCommit(): number {
    const number = (this.commitNumber + 1) | 0
    this.#driver.exec(`pragma user_version = ${number}`)
    return number
  }

  run(sql: string, ...parameters: readonly SqlValue[]): Written {
    const { changes, lastInsertRowid } = this.#prepared(sql).run(...bindable(parameters))
    if (changes > 0) this.#hasChanged = true
    return { changes, lastKey: Number(lastInsertRowid) }
  }

  /** How many rows a statement changed. */
  change(sql: string, ...parameters: readonly SqlValue[]): number {
    const { changes } = this.#prepared(sql).run(...bindable(parameters))
    if (changes > 0) this.#hasChanged = true
    return changes
  }

  get<Row>(sql: string, ...parameters: readonly SqlValue[]): Row | undefined {
    return this.#prepared(sql).get(...bindable(parameters)) as Row | undefined
  }

  /** All rows of a query. They come as one JSON text: the driver's own way is slower, and its errors have no code. */
  all<Row>(sql: string, ...parameters: readonly SqlValue[]): Row[] {
    const { text, columns } = this.#listing(sql)
    const rows = this.json<SqlValue[][]>(text, ...parameters)
    return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])) as Row)
  }

  /** The first column of the first row. */
  value(sql: string, ...parameters: readonly SqlValue[]): SqlValue | undefined {
    const row = this.#preparedForText(sql).get(...bindable(parameters)) as SqlValue[] | undefined
    return row?.[0]
  }

  /** The columns of the one row that a query has. */
  row<Columns extends readonly SqlValue[]>(sql: string): Columns {
    return this.#preparedForText(sql).get() as Columns
  }

  /** The rows that a statement gives as one JSON text: several times faster than an object for each row. */
  json<T>(sql: string, ...parameters: readonly SqlValue[]): T {
    return JSON.parse(this.value(sql, ...parameters) as string) as T
  }

  exec(sql: string): void {
    this.#driver.exec(sql)
  }

  /**
   * Writes the log back into the file and closes. The driver ends statements only when they are collected, and SQLite
   * keeps a connection half open until then; so the log is emptied here and the file is whole without it.
   */
  close(): void {
    try {
      this.exec('pragma wal_checkpoint(truncate)')
    } catch {
      // What was committed stands in the log; the next one who opens the file writes it back.
    }
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

  #listing(sql: string): Listing {
    const known = this.#listings.get(sql)
    if (known !== undefined) return known
    const columns = this.#driver
      .prepare(sql)
      .columns()
      .map(({ name }) => name)
    const row = `json_array(${columns.map((name) => `"${name}"`).join(', ')})`
    const fresh = { columns, text: `select json_group_array(${row}) from (${sql})` }
    this.#listings.set(sql, fresh)
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

/** The driver ends a text at its first zero byte, which would make two keys one; a visible sign stands for it. */
function bindable(parameters: readonly SqlValue[]): readonly SqlValue[] {
  for (const each of parameters) {
    if (typeof each === 'string' && each.includes('\0')) return parameters.map(withoutZeroBytes)
  }
  return parameters
}

function withoutZeroBytes(value: SqlValue): SqlValue {
  return typeof value === 'string' ? value.replaceAll('\0', '\u2400') : value
}
