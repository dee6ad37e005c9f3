import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'
import {
  rowsAtOnce,
  toSqlite,
  withoutZeroBytes,
  type SqlScalar,
  type SqlValue,
  type Statement,
} from '../sql/statement.js'
import { answered, performNow, type Rows, type Sql } from '../sql/verb.js'

/** The result of a statement that writes. */
export interface Written {
  readonly changes: number
  /** The key of the last row it inserted. */
  readonly lastKey: number
}

/** A prepared statement. Its rows come as lists: objects of the driver take up to twice the time. */
interface Prepared {
  readonly statement: StatementSyncInstance
  /** The names of the columns of its rows. */
  readonly columns: readonly string[]
  readonly isInsert: boolean
}

/** The driver with a few typed methods; every statement is prepared once. */
export class Database {
  /** The same in the form that verbs use. */
  readonly sql: Sql = {
    change: (sql, ...values) => answered(this.change(sql, ...values)),
    get: <Row>(sql: Statement, ...values: readonly SqlValue[]) => answered(this.get<Row>(sql, ...values)),
    all: <Row>(sql: Statement, ...values: readonly SqlValue[]) => answered(this.all<Row>(sql, ...values)),
    value: <T extends string | number>(sql: Statement, ...values: readonly SqlValue[]) =>
      answered(this.value(sql, ...values) as T | undefined),
    insert: (sql, rows) => answered(this.insert(sql, rows)),
    added: (sql, rows) => answered(this.added(sql, rows)),
    together: (...verbs) => answered(verbs.map(performNow) as never),
  }
  readonly #driver: DatabaseSyncInstance
  readonly #prepared = new Map<Statement, Prepared>()
  /** The statements whose rows come as one text. */
  readonly #listings = new Map<Statement, Prepared>()
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

  /** Takes the write lock immediately, or throws if another connection has it. */
  begin(): void {
    this.run('begin immediate')
    this.#hasChanged = false
  }

  /** The number of commits, from `user_version` in the header of the file. It wraps at 32 bits. */
  get commitNumber(): number {
    return this.value('pragma user_version') as number
  }

  /** Counts the open transaction as a commit; returns its number. */
  countCommit(): number {
    const number = (this.commitNumber + 1) | 0
    this.#driver.exec(`pragma user_version = ${number}`)
    return number
  }

  run(sql: string, ...parameters: readonly SqlValue[]): Written {
    const { changes, lastInsertRowid } = this.#write(this.#known(sql), parameters)
    return { changes, lastKey: Number(lastInsertRowid) }
  }

  /** Performs a statement; returns how many rows it changed. */
  change(sql: Statement, ...parameters: readonly SqlValue[]): number {
    return this.#write(this.#known(sql), parameters).changes
  }

  /** The first row of a query or of a `returning` clause. */
  get<Row>(sql: Statement, ...parameters: readonly SqlValue[]): Row | undefined {
    const { statement, columns, isInsert } = this.#known(sql)
    const row = statement.get(...bindable(parameters)) as SqlScalar[] | undefined
    if (isInsert) this.#hasChanged = true
    return row === undefined ? undefined : named<Row>(columns, row)
  }

  /** All rows of a query, read as one JSON text: the driver's own method is slower, and its errors have no code. */
  all<Row>(sql: Statement, ...parameters: readonly SqlValue[]): Row[] {
    const { statement, columns } = this.#listing(sql)
    const [text] = statement.get(...bindable(parameters)) as [string]
    if (text === '[]') return []
    return (JSON.parse(text) as SqlScalar[][]).map((row) => named<Row>(columns, row))
  }

  /** The first column of the first row; undefined for null. */
  value(sql: Statement, ...parameters: readonly SqlValue[]): string | number | undefined {
    const row = this.#known(sql).statement.get(...bindable(parameters)) as SqlScalar[] | undefined
    return row?.[0] ?? undefined
  }

  /** Inserts rows in their order; returns how many rows it changed. */
  insert(sql: Statement, rows: Rows): number {
    let changes = 0
    let next = 0
    const many = typeof sql === 'string' ? undefined : sql.sqliteRows
    if (many !== undefined)
      for (; next + rowsAtOnce <= rows.length; next += rowsAtOnce)
        changes += this.#write(this.#known(many), rows.slice(next, next + rowsAtOnce).flat()).changes
    const one = this.#known(sql)
    for (; next < rows.length; next++) changes += this.#write(one, rows[next] as Rows[number]).changes
    return changes
  }

  /** Inserts rows one by one; returns for each whether it is new. */
  added(sql: Statement, rows: Rows): boolean[] {
    const prepared = this.#known(sql)
    return rows.map((row) => this.#write(prepared, row).changes === 1)
  }

  exec(sql: string): void {
    this.#driver.exec(sql)
  }

  /**
   * Writes the log back into the file and closes. The driver finalizes statements only when they are garbage collected,
   * and SQLite keeps the connection half open until then; so the log is emptied here and the file is complete without
   * it.
   */
  close(): void {
    try {
      this.exec('pragma wal_checkpoint(truncate)')
    } catch {
      // Committed data is in the log; the next process that opens the file writes it back.
    }
    this.#prepared.clear()
    this.#listings.clear()
    this.#driver.close()
  }

  #write({ statement }: Prepared, parameters: readonly SqlValue[]): ReturnType<StatementSyncInstance['run']> {
    const written = statement.run(...bindable(parameters))
    if (written.changes > 0) this.#hasChanged = true
    return written
  }

  #known(sql: Statement): Prepared {
    const known = this.#prepared.get(sql)
    if (known !== undefined) return known
    const fresh = this.#prepare(toSqlite(sql))
    this.#prepared.set(sql, fresh)
    return fresh
  }

  #listing(sql: Statement): Prepared {
    const known = this.#listings.get(sql)
    if (known !== undefined) return known
    const own = toSqlite(sql)
    const { columns } = this.#prepare(own)
    const row = `json_array(${columns.map((name) => `"${name}"`).join(', ')})`
    const fresh = { ...this.#prepare(`select json_group_array(${row}) from (${own})`), columns }
    this.#listings.set(sql, fresh)
    return fresh
  }

  #prepare(text: string): Prepared {
    const statement = this.#driver.prepare(text)
    statement.setReturnArrays(true)
    const columns = statement.columns().map(({ name }) => name)
    return { statement, columns, isInsert: text.startsWith('insert') }
  }
}

function named<Row>(columns: readonly string[], values: readonly SqlScalar[]): Row {
  const row: Record<string, SqlScalar> = {}
  for (let i = 0; i < columns.length; i++) row[columns[i] as string] = values[i] as SqlScalar
  return row as Row
}

/** Converts values for the driver: a list becomes a JSON text. */
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
  // A list of numbers, such as keys of rows, has nothing to replace.
  if (typeof value[0] === 'number') return JSON.stringify(value)
  return JSON.stringify(value.map((each) => (typeof each === 'string' ? withoutZeroBytes(each) : each)))
}
