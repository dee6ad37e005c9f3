import { existsSync } from 'node:fs'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { systemClock } from '../../../../time/clock.js'
import type { SqlAnswer, SqlCell, SqlQuestion, StoredValue } from './value.js'

/** Queries a SQLite file. The connection is read-only, and only one statement is executed. */
export async function readSqlite(path: string, question: SqlQuestion): Promise<SqlAnswer> {
  const end = systemClock.monotonicMs() + Math.min(question.timeoutMs, busyLimitMs)
  for (;;) {
    try {
      return await readOnce(path, question)
    } catch (error) {
      // Waiting inside SQLite would block the event loop.
      if (!isBusy(error) || systemClock.monotonicMs() > end || question.signal.aborted) throw error
      await systemClock.sleep(busyPauseMs, question.signal)
    }
  }
}

const busyLimitMs = 2000
const busyPauseMs = 25

async function readOnce(path: string, question: SqlQuestion): Promise<SqlAnswer> {
  const { DatabaseSync } = await import('@photostructure/sqlite')
  // The error of SQLite does not name the file.
  if (!existsSync(path)) throw new Error(`there is no database ${path}`)
  const database = new DatabaseSync(path, { readOnly: true, timeout: 0 })
  try {
    database.exec('pragma query_only = on')
    return answerOf(database, question)
  } finally {
    database.close()
  }
}

function answerOf(database: DatabaseSyncInstance, { sql, parameters }: SqlQuestion): SqlAnswer {
  const statement = database.prepare(sql)
  // SQLite compiles the first statement and ignores the rest. The query itself never ends with a semicolon.
  if (statement.expandedSQL?.endsWith(';') === true) throw new Error('more than one statement was given')
  const columns = statement.columns().map(({ name }) => name)
  // A statement without columns is not a query; `vacuum into` would write a file even on this connection.
  if (columns.length === 0) throw new Error('the statement is not a query')
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  const rows = statement.all(...parameters.map(boundValueOf)) as unknown as unknown[][]
  return { columns, rows: rows.map((row) => row.map(cellOf)) }
}

function boundValueOf({ type, text = '' }: StoredValue): bigint | number | string {
  if (type === 'integer') return BigInt(text)
  return type === 'real' ? Number(text) : text
}

function cellOf(value: unknown): SqlCell {
  if (value === null) return { type: 'null', text: undefined }
  if (typeof value === 'bigint') return { type: 'integer', text: String(value) }
  if (typeof value === 'number') return { type: 'real', text: String(value) }
  if (typeof value === 'string') return { type: 'text', text: value }
  return { type: 'blob', text: Buffer.from(value as Uint8Array).toString('hex') }
}

function isBusy(error: unknown): boolean {
  return /database (?:table )?is locked/.test((error as Error).message)
}
