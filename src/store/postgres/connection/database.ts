import { createHash } from 'node:crypto'
import type { Client, QueryResult } from 'pg'
import { isOutdatedStatement, isUnknownStatement, LostStatement } from './errors.js'
import {
  columnsOf,
  withoutZeroBytes,
  type SqlScalar,
  type SqlValue,
  type Statement,
} from '../../sql/statement.js'
import { awaited, perform, type Rows, type Sql } from '../../sql/verb.js'

/** Statements for one store: replaces `rota.` by its schema, `'rota'::name` by the name of the schema, `rota_lock_key` by its lock. */
export class Statements {
  readonly schema: string
  readonly #quoted: string
  readonly #known = new Map<Statement, { readonly text: string; readonly name: string }>()
  #prepare: Prepare

  constructor({ schema, prepare }: { schema: string; prepare: Prepare }) {
    this.schema = schema
    this.#quoted = `"${schema.replaceAll('"', '""')}"`
    this.#prepare = prepare
  }

  /** Whether the statements of transactions stay prepared on their connections. */
  get isPrepared(): boolean {
    return this.#prepare !== 'off'
  }

  /** Behind a pooler, the next statement may be sent over another connection. */
  notePooler(): void {
    if (this.#prepare === 'auto') this.#prepare = 'off'
  }

  /** The error of a prepared statement; one that is only missing or outdated on its connection is performed again on another. */
  errorOf(error: unknown): unknown {
    if (isOutdatedStatement(error)) return new LostStatement('a statement is outdated', { cause: error })
    if (!isUnknownStatement(error) || this.#prepare === 'on') return error
    this.notePooler()
    return new LostStatement('the server has lost a prepared statement', { cause: error })
  }

  /** The text for this store's schema, and its name where it stays prepared. */
  of(sql: Statement): { readonly text: string; readonly name: string } {
    const known = this.#known.get(sql)
    if (known !== undefined) return known
    const text = this.text(typeof sql === 'string' ? sql : sql.postgres)
    // The same name is the same statement in every process: a pooler may give them the same connection.
    const name = `rota_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
    const fresh = { text, name }
    this.#known.set(sql, fresh)
    return fresh
  }

  text(sql: string): string {
    // In one pass and by a function, so that any name of a schema is inserted unchanged.
    return sql.replaceAll(/\brota\.|'rota'::name|rota_lock_key/g, (place) => {
      if (place === 'rota.') return `${this.#quoted}.`
      return place === 'rota_lock_key' ? this.lockKey : this.#literal
    })
  }

  get #literal(): string {
    return `'${this.schema.replaceAll("'", "''")}'`
  }

  /** A key for the locks of this store's schema, as an expression. */
  get lockKey(): string {
    return `${lockClass}, hashtext(${this.#literal})`
  }
}

/** Whether statements are prepared; `auto`: unless there is a pooler. */
export type Prepare = 'on' | 'off' | 'auto'

/** Distinguishes Rota's advisory locks from those of others: the letters "Rota". */
const lockClass = 0x52_6f_74_61

/** One connection with a few typed methods. */
export class Database {
  /** The same in the form that verbs use. */
  readonly sql: Sql = {
    change: (sql, ...values) => awaited(this.change(sql, ...values)),
    get: <Row>(sql: Statement, ...values: readonly SqlValue[]) => awaited(this.get<Row>(sql, ...values)),
    all: <Row>(sql: Statement, ...values: readonly SqlValue[]) => awaited(this.all<Row>(sql, ...values)),
    value: <T extends string | number>(sql: Statement, ...values: readonly SqlValue[]) =>
      awaited(this.value(sql, ...values) as Promise<T | undefined>),
    insert: (sql, rows) => awaited(this.insert(sql, rows)),
    added: (sql, rows) => awaited(this.added(sql, rows)),
    together: (...verbs) => awaited(Promise.all(verbs.map(perform)) as Promise<never>),
  }
  readonly #client: Client
  readonly #statements: Statements
  readonly #answerMs: number | undefined
  readonly #prepares: boolean
  #hasChanged = false
  #hasFailed = false
  #isOver = false

  /**
   * The time limit of answers is that of the connection, or `answerMs`. Only statements of transactions are prepared:
   * the plan of a query should fit the size that the tables have now.
   */
  constructor(
    client: Client,
    statements: Statements,
    options: { answerMs?: number | undefined; prepares?: boolean } = {},
  ) {
    this.#client = client
    this.#statements = statements
    this.#answerMs = options.answerMs
    this.#prepares = options.prepares === true && statements.isPrepared
  }

  /** Whether a statement has changed a row. */
  get hasChanged(): boolean {
    return this.#hasChanged
  }

  /** Refuses further statements: they would be outside the transaction. */
  end(): void {
    this.#isOver = true
  }

  /** Performs a statement; returns how many rows it changed. */
  async change(sql: Statement, ...parameters: readonly SqlValue[]): Promise<number> {
    return (await this.#send(sql, parameters)).rowCount ?? 0
  }

  async get<Row>(sql: Statement, ...parameters: readonly SqlValue[]): Promise<Row | undefined> {
    return (await this.#send<Row>(sql, parameters)).rows[0]
  }

  async all<Row>(sql: Statement, ...parameters: readonly SqlValue[]): Promise<Row[]> {
    return (await this.#send<Row>(sql, parameters)).rows
  }

  /** The first column of the first row; undefined for null. */
  async value(sql: Statement, ...parameters: readonly SqlValue[]): Promise<string | number | undefined> {
    const row = await this.get<Record<string, string | number | null>>(sql, ...parameters)
    return row === undefined ? undefined : (Object.values(row)[0] ?? undefined)
  }

  /** Inserts rows; returns how many rows it changed. */
  insert(sql: Statement, rows: Rows): Promise<number> {
    return rows.length === 0 ? Promise.resolve(0) : this.change(sql, ...columnsOf(rows))
  }

  /** Inserts rows; returns for each whether it is new. Of two rows with the same key the first one is added. */
  async added(sql: Statement, rows: Rows): Promise<boolean[]> {
    if (rows.length === 0) return []
    const fresh = await this.all<{ key: SqlScalar }>(sql, ...columnsOf(rows))
    const keys = new Set(fresh.map(({ key }) => key))
    return rows.map(([key]) => keys.delete(key as SqlScalar))
  }

  async #send<Row>(sql: Statement, parameters: readonly SqlValue[]): Promise<QueryResult<Row>> {
    if (this.#isOver) throw new Error('A statement came after the end of its transaction')
    const { text, name } = this.#statements.of(sql)
    const values = parameters.map(sendable)
    const query = { text, values, query_timeout: this.#answerMs }
    const result = await (this.#prepares
      ? this.#client.query<Row>({ ...query, name }).catch((error: unknown) => this.#fail(error))
      : this.#client.query<Row>(query))
    if (result.command !== 'SELECT' && (result.rowCount ?? 0) > 0) this.#hasChanged = true
    return result
  }

  /** Throws. After the first error of a transaction, the errors of statements that were already sent mean nothing. */
  #fail(error: unknown): never {
    const isFirst = !this.#hasFailed
    this.#hasFailed = true
    throw isFirst ? this.#statements.errorOf(error) : error
  }
}

function sendable(value: SqlValue): SqlValue {
  if (typeof value === 'string') return withoutZeroBytes(value)
  if (typeof value !== 'object' || value === null) return value
  return value.map((each) => (typeof each === 'string' ? withoutZeroBytes(each) : each))
}
