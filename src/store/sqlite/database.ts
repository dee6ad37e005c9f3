import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import {
  toSqlite,
  withoutZeroBytes,
  type SqlScalar,
  type SqlValue,
  type Statement,
} from '../sql/statement.js'
import { performNow, type Driver, type Verb } from '../sql/verb.js'

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
export class Database implements Driver {
  readonly #driver: DatabaseSyncInstance
  readonly #statements = new Map<Statement, StatementSyncInstance>()
  readonly #texts = new Map<Statement, StatementSyncInstance>()
  readonly #listings = new Map<Statement, Listing>()
  /** The statements that insert. */
  readonly #inserts = new Set<Statement>()
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
  change(sql: Statement, ...parameters: readonly SqlValue[]): number {
    const { changes } = this.#prepared(sql).run(...bindable(parameters))
    if (changes > 0) this.#hasChanged = true
    return changes
  }

  /** The first row of a query, or what a statement that inserts a row returns of it. */
  get<Row>(sql: Statement, ...parameters: readonly SqlValue[]): Row | undefined {
    const row = this.#prepared(sql).get(...bindable(parameters)) as Row | undefined
    if (this.#inserts.has(sql)) this.#hasChanged = true
    return row
  }

  /** All rows of a query. They come as one JSON text: the driver's own way is slower, and its errors have no code. */
  all<Row>(sql: Statement, ...parameters: readonly SqlValue[]): Row[] {
    const { text, columns } = this.#listing(sql)
    const rows = this.json<SqlScalar[][]>(text, ...parameters)
    return rows.map((row) => {
      const named: Record<string, SqlScalar> = {}
      for (let i = 0; i < columns.length; i++) named[columns[i] as string] = row[i] as SqlScalar
      return named as Row
    })
  }

  /** The first column of the first row; what is null there is undefined. */
  value(sql: Statement, ...parameters: readonly SqlValue[]): string | number | undefined {
    const row = this.#preparedForText(sql).get(...bindable(parameters)) as SqlScalar[] | undefined
    return row?.[0] ?? undefined
  }

  /** Inserts rows one after the other; how many rows that changed. */
  insert(sql: Statement, rows: readonly (readonly SqlScalar[])[]): number {
    return rows.reduce((changes, row) => changes + this.change(sql, ...row), 0)
  }

  /** Inserts rows one after the other; for each whether it is new. */
  added(sql: Statement, rows: readonly (readonly SqlScalar[])[]): boolean[] {
    return rows.map((row) => this.change(sql, ...row) === 1)
  }

  /** Performs a verb. */
  perform<T>(verb: Verb<T>): T {
    return performNow(verb, this)
  }

  /** The columns of the one row that a query has. */
  row<Columns extends readonly SqlScalar[]>(sql: string): Columns {
    return this.#preparedForText(sql).get() as Columns
  }

  /** The rows that a statement gives as one JSON text: several times faster than an object for each row. */
  json<T>(sql: Statement, ...parameters: readonly SqlValue[]): T {
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

  #prepared(sql: Statement): StatementSyncInstance {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const text = toSqlite(sql)
    const fresh = this.#driver.prepare(text)
    if (text.startsWith('insert')) this.#inserts.add(sql)
    this.#statements.set(sql, fresh)
    return fresh
  }

  #listing(sql: Statement): Listing {
    const known = this.#listings.get(sql)
    if (known !== undefined) return known
    const own = toSqlite(sql)
    const columns = this.#driver
      .prepare(own)
      .columns()
      .map(({ name }) => name)
    const row = `json_array(${columns.map((name) => `"${name}"`).join(', ')})`
    const fresh = { columns, text: `select json_group_array(${row}) from (${own})` }
    this.#listings.set(sql, fresh)
    return fresh
  }

  #preparedForText(sql: Statement): StatementSyncInstance {
    const known = this.#texts.get(sql)
    if (known !== undefined) return known
    const fresh = this.#driver.prepare(toSqlite(sql))
    fresh.setReturnArrays(true)
    this.#texts.set(sql, fresh)
    return fresh
  }
}

/** Values as the driver takes them: a list is a JSON text. */
function bindable(values: readonly SqlValue[]): SqlScalar[] {
  for (const each of values) {
    if (typeof each === 'object' ? each !== null : typeof each === 'string' && each.includes('\0'))
      return values.map(bound)
  }
  return values as SqlScalar[]
}

function bound(value: SqlValue): SqlScalar {
  if (typeof value === 'string') return withoutZeroBytes(value)
  if (typeof value === 'boolean') return Number(value)
  if (typeof value !== 'object' || value === null) return value
  return JSON.stringify(value.map((each) => (typeof each === 'string' ? withoutZeroBytes(each) : each)))
}
