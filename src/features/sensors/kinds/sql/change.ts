import { refuse } from '../../../../kernel/definition/errors.js'
import { placeOf } from '../../../../kernel/definition/faults.js'
import { functionOf, readTable, required } from '../../../../kernel/definition/option-table.js'
import { partitionOf } from '../../../../kernel/partition/partition.js'
import type { ConfiguredSensor, PollContext, PollResult } from '../../sensor.js'
import { formatInstant } from '../../../../time/instant.js'
import { toLabel } from '../body-pick.js'
import { mapOf, optional, type StateOf } from '../state-table.js'
import { askDatabase } from './database.js'
import { databaseConfig, databaseTable, readQuery, type SqlDatabaseOptions } from './options.js'
import { sqlSensor } from './sql-sensor.js'
import {
  isSameValue,
  jsonValueOf,
  shortText,
  sqlValueOf,
  storedValue,
  storedValueOf,
  type SqlAnswer,
  type SqlCell,
  type SqlValue,
} from './value.js'

/** The options of a sensor of a changed value. */
export interface SqlChangeOptions extends SqlDatabaseOptions {
  /** A query of one row and one column. */
  readonly query: string
  /** The partition of a change, from the new value; default: the day of the poll. */
  readonly partition?: ((value: SqlValue) => string | Promise<string>) | undefined
  /** The key of a change; default: the value and the instant at which it was found. */
  readonly key?: ((value: SqlValue) => string | Promise<string>) | undefined
}

const table = {
  ...databaseTable,
  query: required(readQuery),
  partition: functionOf<SqlChangeOptions['partition']>('the value'),
  key: functionOf<SqlChangeOptions['key']>('the value'),
}

/** The checked options of a sensor of a changed value. */
export type SqlChangeConfig = ReturnType<typeof readConfig>

/** The last value; missing before the first poll. */
export const changeState = mapOf({ value: optional(storedValue) })

/** The state of a sensor of a changed value. */
export type SqlChangeState = StateOf<typeof changeState>

/** A sensor that runs a query for one value, and finds each change of the value. */
export function sqlChangeSensor(
  options: SqlChangeOptions,
): ConfiguredSensor<SqlChangeConfig, SqlChangeState> {
  return sqlSensor(readConfig(options), {}, readValue)
}

function readConfig(options: SqlChangeOptions) {
  const place = placeOf()
  const { query, partition, key, ...database } = readTable(options, table, place)
  const config = { ...databaseConfig(database, place), query, partition, key }
  refuse('the SQL sensor', place.faults)
  return config
}

async function readValue(
  state: SqlChangeState,
  context: PollContext<SqlChangeConfig>,
): Promise<PollResult<SqlChangeState>> {
  const { config, signal } = context
  // Two rows are enough to detect that there is more than one.
  const sql = `select * from (\n${config.query}\n) as rota_query limit 2`
  const cell = onlyValue(await askDatabase(config, { sql, parameters: [], signal }))
  const value = storedValueOf(cell)
  const { value: before } = state
  if (before === undefined && (cell.text === undefined || config.startFrom === 'now')) {
    return { kind: 'no-trigger', reason: 'the first value is the baseline', state: { value } }
  }
  if (before !== undefined && isSameValue(before, value)) {
    return { kind: 'no-trigger', reason: 'the value is the same', state }
  }
  return await changed(cell, context)
}

function onlyValue({ columns, rows }: SqlAnswer): SqlCell {
  const [first, second] = rows
  const [cell] = first ?? []
  if (columns.length !== 1 || cell === undefined || second !== undefined) {
    const count = second === undefined ? rows.length : 'more than one'
    const names = columns.slice(0, 10).join(', ')
    throw new Error(
      `one row of one column was expected; the query returned ${count} row${count === 1 ? '' : 's'} of ${columns.length} column${columns.length === 1 ? '' : 's'} (${names})`,
    )
  }
  return cell
}

async function changed(
  cell: SqlCell,
  { config, now, timezone }: PollContext<SqlChangeConfig>,
): Promise<PollResult<SqlChangeState>> {
  const stored = storedValueOf(cell)
  const value = sqlValueOf(cell)
  const at = now.getTime()
  const day = partitionOf('day', at, timezone)
  const partition = toLabel('partition', config.partition === undefined ? day : await config.partition(value))
  // A value that comes back is a change again, so the value alone is not a sufficient key.
  const defaultKey = `${formatInstant(at)} ${shortText(stored)}`
  const key = toLabel('key', config.key === undefined ? defaultKey : await config.key(value))
  const observation = { key, partition, payload: { value: jsonValueOf(cell) } }
  return { kind: 'trigger', observations: [observation], state: { value: stored } }
}
