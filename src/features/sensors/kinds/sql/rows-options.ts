import { refuse } from '../../../../kernel/definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../../../../kernel/definition/faults.js'
import {
  choice,
  duration,
  readTable,
  required,
  whole,
  type TableValues,
} from '../../../../kernel/definition/option-table.js'
import { isMap } from '../../../../kernel/definition/read-value.js'
import { databaseConfig, databaseTable, readQuery, type SqlDatabaseOptions } from './options.js'
import type { SqlRow } from './value.js'

/** A column, or a function of the row. */
export type RowPick = string | ((row: SqlRow) => string | number | Promise<string | number>)

/** The options of a sensor of new rows. */
export interface SqlRowsOptions extends SqlDatabaseOptions {
  /** A table, optionally with its schema; or `query`. */
  readonly table?: string | undefined
  /** The columns to read; default: all. The cursor's columns are always read. */
  readonly columns?: readonly string[] | undefined
  /** A query that returns the columns of the cursor; or `table`. */
  readonly query?: string | undefined
  /** The column that increases with every new or changed row, and the one that identifies rows with the same value. */
  readonly cursor: { readonly value: string; readonly id: string }
  /** The longest time from writing a value to its commit; default: 5 minutes. Zero if rows are never late. */
  readonly lookBack?: string | number | undefined
  /** Whether each new value of a row is an observation (`change`, the default), or only the row itself. */
  readonly per?: 'change' | 'row' | undefined
  /** How many rows one query reads; default: 500. */
  readonly limit?: number | undefined
  /** The partition of a row: a column, or a function. Default: the day of a cursor value that is an instant, otherwise of the poll. */
  readonly partition?: RowPick | undefined
}

const lookBackBounds = { min: 0, max: 30 * 86_400_000, allowed: 'from 0 to 30d' }

const rowsTable = {
  ...databaseTable,
  table: unread,
  columns: unread,
  query: unread,
  cursor: required(readCursor),
  lookBack: duration(lookBackBounds, 300_000),
  per: choice('change', 'row'),
  limit: whole({ min: 1, max: 10_000 }, 500),
  partition: readPartition,
}

/** The checked options of a sensor of new rows. */
export type SqlRowsConfig = ReturnType<typeof readRowsConfig>

/** Reads the options; throws one error with all faults. */
export function readRowsConfig(options: SqlRowsOptions) {
  const place = placeOf()
  const read = readTable(options, rowsTable, place)
  const { cursor, lookBack, per, limit, partition } = read
  const database = databaseConfig(read, place)
  // A checkpoint has the instant of the start of its poll, but is valid only from the end of the poll.
  const reachMs = lookBack === 0 ? 0 : lookBack + database.timeoutMs
  const query = readSource(read, place)
  refuse('the SQL sensor', place.faults)
  return { ...database, query: query as string, cursor, reachMs, per, limit, partition }
}

/** An option that is read together with others. */
function unread(value: unknown): unknown {
  return value
}

function readPartition(value: unknown, place: Place): RowPick | undefined {
  if (value === undefined || typeof value === 'function' || typeof value === 'string')
    return value as RowPick | undefined
  return fault(place, `${shown(value)} is neither a column nor a function of the row`)
}

function readCursor(value: unknown, place: Place): SqlRowsOptions['cursor'] | undefined {
  const { value: grows, id } = isMap(value) ? value : {}
  if (isIdentifier(grows) && isIdentifier(id)) return { value: grows, id }
  return fault(place, `${shown(value)} does not name two columns`, 'such as { value: updated_at, id: id }')
}

/** The query that returns all rows. */
function readSource(
  { table, columns, query, cursor }: TableValues<typeof rowsTable>,
  place: Place,
): string | undefined {
  if ((table === undefined) === (query === undefined)) return fault(place, 'either table or query is needed')
  if (query !== undefined) return readQuery(query, within(place, 'query'))
  const parts = typeof table === 'string' ? table.split('.') : []
  if (parts.length === 0 || parts.length > 2 || !parts.every(isIdentifier)) {
    return fault(within(place, 'table'), `${shown(table)} is not a table`, 'such as orders or shop.orders')
  }
  const from = parts.map(quoted).join('.')
  if (columns === undefined) return `select * from ${from}`
  if (!Array.isArray(columns) || !columns.every(isIdentifier)) {
    return fault(within(place, 'columns'), `${shown(columns)} is not a list of columns`)
  }
  const all = new Set([cursor?.value, cursor?.id, ...columns])
  return `select ${[...all].map(quoted).join(', ')} from ${from}`
}

function isIdentifier(name: unknown): name is string {
  return typeof name === 'string' && name !== '' && name.length <= 128 && !name.includes('\0')
}

/** A quoted identifier for both databases. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
