import { refuse } from '../../../../kernel/definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../../../../kernel/definition/faults.js'
import {
  isMap,
  readChoice,
  readDuration,
  readOptions,
  readWhole,
  type Written,
} from '../../../../kernel/definition/read-value.js'
import { readDatabase, readQuery, sqlDatabaseOptions, type SqlDatabaseOptions } from './options.js'
import type { SqlDatabaseConfig } from './database.js'
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

/** The checked options of a sensor of new rows. */
export interface SqlRowsConfig extends SqlDatabaseConfig {
  /** The query that returns all rows. */
  readonly query: string
  readonly cursor: { readonly value: string; readonly id: string }
  /** How long after it was written a row may become visible; zero if rows are never late. */
  readonly reachMs: number
  readonly per: 'change' | 'row'
  readonly limit: number
  readonly partition: RowPick | undefined
  readonly startFrom: 'beginning' | 'now'
}

const ownOptions = ['table', 'columns', 'query', 'cursor', 'lookBack', 'per', 'limit', 'partition']

/** Reads the options; throws one error with all faults. */
export function readRowsConfig(options: SqlRowsOptions): SqlRowsConfig {
  const place = placeOf()
  const input = readOptions(options, [...ownOptions, ...sqlDatabaseOptions], place) ?? {}
  const at = (name: string): Place => within(place, name)
  const database = readDatabase(input, place)
  const cursor = readCursor(input['cursor'], at('cursor'))
  const lookBackMs = readDuration(input['lookBack'], lookBackBounds, at('lookBack')) ?? 300_000
  const { partition } = options
  if (partition !== undefined && typeof partition !== 'function' && typeof partition !== 'string') {
    fault(at('partition'), `${shown(partition)} is neither a column nor a function of the row`)
  }
  const config = {
    ...database,
    query: readSource(input, cursor, place),
    cursor,
    // A checkpoint has the instant of the start of its poll, but is valid only from the end of the poll.
    reachMs: lookBackMs === 0 ? 0 : lookBackMs + database.timeoutMs,
    per: readChoice(input['per'], ['change', 'row'], at('per')) ?? 'change',
    limit: readWhole(input['limit'], { min: 1, max: 10_000 }, at('limit')) ?? 500,
    startFrom: readChoice(input['startFrom'], ['beginning', 'now'], at('startFrom')) ?? 'beginning',
    partition,
  }
  refuse('the SQL sensor', place.faults)
  return config as SqlRowsConfig
}

const lookBackBounds = { min: 0, max: 30 * 86_400_000, allowed: 'from 0 to 30d' }

function readCursor(value: unknown, place: Place): SqlRowsConfig['cursor'] | undefined {
  const { value: grows, id } = isMap(value) ? value : {}
  if (isIdentifier(grows) && isIdentifier(id)) return { value: grows, id }
  return fault(place, `${shown(value)} does not name two columns`, 'such as { value: updated_at, id: id }')
}

function readSource(
  input: Written,
  cursor: SqlRowsConfig['cursor'] | undefined,
  place: Place,
): string | undefined {
  const { table, columns, query } = input
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
  const all = new Set([...(cursor === undefined ? [] : [cursor.value, cursor.id]), ...columns])
  return `select ${[...all].map(quoted).join(', ')} from ${from}`
}

function isIdentifier(name: unknown): name is string {
  return typeof name === 'string' && name !== '' && name.length <= 128 && !name.includes('\0')
}

/** A quoted identifier for both databases. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
