import { createHash } from 'node:crypto'
import { maxPayloadBytes } from '../model/bounds.js'
import { partitionOf } from '../model/partition.js'
import type { Json } from '../model/json.js'
import { maxKeyBytes } from '../model/read-poll.js'
import type { ConfiguredSensor, Observation, PollContext, PollResult, Sensor } from '../model/sensor.js'
import { messageOf, toLabel, type PickedLabel } from './body-pick.js'
import { askDatabase, parameterText, refusalOf } from './sql-database.js'
import { watchChannel } from './sql-listen.js'
import type { SqlAnswer } from './sql-question.js'
import { quoted, readRowsConfig, type SqlRowsConfig, type SqlRowsOptions } from './sql-rows-config.js'
import {
  afterPage,
  beginSweeps,
  nextStart,
  type RowPlace,
  type SweepStart,
  type Sweeps,
} from './sql-sweep.js'
import {
  instantOf,
  jsonValueOf,
  shortText,
  sqlValueOf,
  storedValueOf,
  type SqlCell,
  type StoredValue,
} from './sql-value.js'

/** How far the rows were read, and the keys of those that were found last, so that they are not told again and again. */
export type SqlRowsState = { readonly sweeps: Sweeps | null; readonly recent: readonly string[] }

/** A sensor that finds every new or changed row of a table or query, in the order of a cursor of value and id. */
export function sqlRowsSensor(options: SqlRowsOptions): ConfiguredSensor<SqlRowsConfig, SqlRowsState> {
  const config = readRowsConfig(options)
  return { type: 'sql', sensor, config, watch: config.listen === undefined ? undefined : watchChannel }
}

const sensor: Sensor<SqlRowsConfig, SqlRowsState> = {
  init: (config) => {
    const reason = refusalOf(config)
    return reason === undefined
      ? { kind: 'ok', state: { sweeps: null, recent: [] } }
      : { kind: 'error', reason }
  },
  poll: async (state, context) => {
    try {
      const sweeps = state.sweeps ?? (await begin(context))
      if (state.sweeps === null && context.config.startFrom === 'now') {
        return { kind: 'no-trigger', reason: 'what is there is no news', state: { ...state, sweeps } }
      }
      return await readPage({ ...state, sweeps }, context)
    } catch (error) {
      return { kind: 'error', reason: messageOf(error), state }
    }
  },
}

type Reading = SqlRowsState & { readonly sweeps: Sweeps }

/** The first look: at the last row, before any is read, so that what is written later is known to come after it. */
async function begin({ config, now, signal }: PollContext<SqlRowsConfig>): Promise<Sweeps> {
  const { value, id } = columnsOf(config)
  const sql = `${selected(config)} order by ${value} desc, ${id} desc limit 1`
  const answer = await askDatabase(config, { sql, parameters: [], signal })
  const [last] = placesOf(answer, config)
  return beginSweeps({ now, last: last ?? null, startFrom: config.startFrom })
}

async function readPage(
  state: Reading,
  context: PollContext<SqlRowsConfig>,
): Promise<PollResult<SqlRowsState>> {
  const { config, now, signal } = context
  const { limit, reachMs } = config
  const question = pageQuestion(config, {
    start: nextStart(state.sweeps, { now, reachMs }),
    after: state.sweeps.after,
  })
  const answer = await askDatabase(config, { ...question, signal })
  const page = { ...answer, rows: answer.rows.slice(0, limit) }
  const last = placesOf(page, config).at(-1) ?? null
  const hasMore = answer.rows.length > limit
  const found = await observe(page, state, context)
  const recent = [...state.recent, ...found.map(({ key }) => digestOf(key))].slice(-maxRecent)
  const next = { sweeps: afterPage(state.sweeps, { now, reachMs, last, hasMore }), recent }
  const [first, ...others] = found
  if (first === undefined) return { kind: 'no-trigger', reason: 'no new rows', state: next, more: hasMore }
  return { kind: 'trigger', observations: [first, ...others], state: next, more: hasMore }
}

/** Enough for what a look-back usually holds; beyond that the store knows its keys. */
const maxRecent = 1000

function pageQuestion(
  config: SqlRowsConfig,
  { start, after }: { start: SweepStart; after: RowPlace | null },
): { sql: string; parameters: readonly StoredValue[] } {
  const { value, id } = columnsOf(config)
  const parameters: StoredValue[] = []
  const conditions: string[] = []
  const bind = (one: StoredValue): string => {
    parameters.push(one)
    return parameterText(config.url ?? '', parameters.length)
  }
  // One row comparison rather than two conditions, which an index on both columns serves.
  const beyond = (place: RowPlace): string => `(${value}, ${id}) > (${bind(place.value)}, ${bind(place.id)})`
  if (after !== null) conditions.push(beyond(after))
  if (start.kind === 'after') conditions.push(beyond(start.place))
  if (start.kind === 'at') conditions.push(`${value} >= ${bind(start.value)}`)
  const where = conditions.map((condition) => ` and ${condition}`).join('')
  const sql = `${selected(config)}${where} order by ${value}, ${id} limit ${config.limit + 1}`
  return { sql, parameters }
}

function selected(config: SqlRowsConfig): string {
  const { value, id } = columnsOf(config)
  return `select * from (\n${config.query}\n) as rota_rows where ${value} is not null and ${id} is not null`
}

function columnsOf({ cursor }: SqlRowsConfig): { value: string; id: string } {
  return { value: quoted(cursor.value), id: quoted(cursor.id) }
}

function placesOf({ columns, rows }: SqlAnswer, { cursor }: SqlRowsConfig): readonly RowPlace[] {
  const [value, id] = [cursor.value, cursor.id].map((name) => columns.indexOf(name))
  return rows.map((row) => ({ value: placeValue(row, value), id: placeValue(row, id) }))
}

function placeValue(row: readonly SqlCell[], index: number | undefined): StoredValue {
  const cell = row[index ?? -1]
  if (cell === undefined)
    throw new Error('the rows do not have the columns of the cursor under their own names')
  const stored = storedValueOf(cell)
  if (stored.text === undefined) throw new Error('the columns of a cursor are numbers, times or short texts')
  return stored
}

async function observe(
  page: SqlAnswer,
  { recent }: SqlRowsState,
  context: PollContext<SqlRowsConfig>,
): Promise<readonly Observation[]> {
  const known = new Set(recent)
  const found: Observation[] = []
  const places = placesOf(page, context.config)
  for (const [index, place] of places.entries()) {
    const key = keyOf(place, context.config)
    if (known.has(digestOf(key))) continue
    const row = Object.fromEntries(page.columns.map((name, i) => [name, page.rows[index]?.[i] as SqlCell]))
    const partition = await partitionFor(row, place, context)
    if (partition.kind === 'none') throw new Error(`row ${key}: ${partition.reason}`)
    found.push({ key, partition: partition.label, payload: payloadOf(row, place) })
  }
  return found
}

/** An id is written so that it has no `@`, and the key can be read in one way only. */
function keyOf({ value, id }: RowPlace, { per }: SqlRowsConfig): string {
  const name = encodeURIComponent(shortText(id))
  const key = per === 'row' ? name : `${name}@${shortText(value)}`
  return Buffer.byteLength(key) <= maxKeyBytes ? key : createHash('sha256').update(key).digest('hex')
}

/** 64 bits: two of the few that are kept at a time are never the same by chance. */
function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 11)
}

type Cells = Readonly<Record<string, SqlCell>>

async function partitionFor(
  row: Cells,
  { value }: RowPlace,
  { config, now, timezone }: PollContext<SqlRowsConfig>,
): Promise<PickedLabel> {
  const { partition } = config
  if (partition === undefined) {
    return { kind: 'label', label: partitionOf('day', instantOf(value) ?? now, timezone) }
  }
  if (typeof partition === 'string') return toLabel('partition', row[partition]?.text)
  const values = Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, sqlValueOf(cell)]))
  try {
    return toLabel('partition', await partition(values))
  } catch (error) {
    return { kind: 'none', reason: `the function for partition threw: ${messageOf(error)}` }
  }
}

/** The row; where it is too large for a run, what it can be looked up by. */
function payloadOf(row: Cells, { value, id }: RowPlace): Json {
  const payload = Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, jsonValueOf(cell)]))
  const isSmall = Buffer.byteLength(JSON.stringify(payload)) <= maxPayloadBytes
  return isSmall ? payload : { value: value.text ?? null, id: id.text ?? null }
}
