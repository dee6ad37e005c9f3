import { refuse } from '../../../../kernel/definition/errors.js'
import { fault, placeOf, shown, within } from '../../../../kernel/definition/faults.js'
import { partitionOf } from '../../../../kernel/partition/partition.js'
import { readChoice, readOptions } from '../../../../kernel/definition/read-value.js'
import type { ConfiguredSensor, PollContext, PollResult, Sensor } from '../../sensor.js'
import { formatInstant } from '../../../../time/instant.js'
import { messageOf, toLabel } from '../body-pick.js'
import { readDatabase, readQuery, sqlDatabaseOptions, type SqlDatabaseOptions } from './options.js'
import { askDatabase, refusalOf, type SqlDatabaseConfig } from './database.js'
import { watchChannel } from './listen.js'
import type { SqlAnswer } from './question.js'
import {
  isSameValue,
  jsonValueOf,
  shortText,
  sqlValueOf,
  storedValueOf,
  type SqlCell,
  type SqlValue,
  type StoredValue,
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

/** The checked options of a sensor of a changed value. */
export interface SqlChangeConfig extends SqlDatabaseConfig {
  readonly query: string
  readonly partition: SqlChangeOptions['partition']
  readonly key: SqlChangeOptions['key']
  readonly startFrom: 'beginning' | 'now'
}

/** The last value; undefined before the first poll. */
export type SqlChangeState = { readonly value?: StoredValue }

/** A sensor that runs a query for one value, and finds each change of the value. */
export function sqlChangeSensor(
  options: SqlChangeOptions,
): ConfiguredSensor<SqlChangeConfig, SqlChangeState> {
  const config = readConfig(options)
  return { type: 'sql', sensor, config, watch: config.listen === undefined ? undefined : watchChannel }
}

const sensor: Sensor<SqlChangeConfig, SqlChangeState> = {
  init: (config) => {
    const reason = refusalOf(config)
    return reason === undefined ? { kind: 'ok', state: {} } : { kind: 'error', reason }
  },
  poll: async (state, context) => {
    try {
      return await readValue(state, context)
    } catch (error) {
      return { kind: 'error', reason: messageOf(error), state }
    }
  },
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
  return await changed(cell, state, context)
}

function onlyValue({ columns, rows }: SqlAnswer): SqlCell {
  const [first, second] = rows
  const [cell] = first ?? []
  if (columns.length !== 1 || cell === undefined || second !== undefined) {
    const count = second === undefined ? rows.length : 'more than one'
    const names = columns.slice(0, 10).join(', ')
    throw new Error(
      `one row of one column was expected; ${count} row${count === 1 ? '' : 's'} of ${columns.length} column${columns.length === 1 ? '' : 's'} (${names}) came`,
    )
  }
  return cell
}

async function changed(
  cell: SqlCell,
  before: SqlChangeState,
  { config, now, timezone }: PollContext<SqlChangeConfig>,
): Promise<PollResult<SqlChangeState>> {
  const stored = storedValueOf(cell)
  const value = sqlValueOf(cell)
  const day = partitionOf('day', now, timezone)
  const partition = toLabel('partition', config.partition === undefined ? day : await config.partition(value))
  // A value that comes back is a change again, so the value alone is not a sufficient key.
  const defaultKey = `${formatInstant(now)} ${shortText(stored)}`
  const key = toLabel('key', config.key === undefined ? defaultKey : await config.key(value))
  if (partition.kind === 'none') return { kind: 'error', reason: partition.reason, state: before }
  if (key.kind === 'none') return { kind: 'error', reason: key.reason, state: before }
  const payload = { value: jsonValueOf(cell) }
  const observation = { key: key.label, partition: partition.label, payload }
  return { kind: 'trigger', observations: [observation], state: { value: stored } }
}

function readConfig(options: SqlChangeOptions): SqlChangeConfig {
  const place = placeOf()
  const input = readOptions(options, ['query', 'partition', 'key', ...sqlDatabaseOptions], place) ?? {}
  for (const name of ['partition', 'key']) {
    const given = input[name]
    if (given !== undefined && typeof given !== 'function') {
      fault(within(place, name), `${shown(given)} is not a function of the value`)
    }
  }
  const config = {
    ...readDatabase(input, place),
    query: readQuery(input['query'], within(place, 'query')),
    startFrom:
      readChoice(input['startFrom'], ['beginning', 'now'], within(place, 'startFrom')) ?? 'beginning',
    partition: options.partition,
    key: options.key,
  }
  refuse('the SQL sensor', place.faults)
  return config as SqlChangeConfig
}
