import { createHash } from 'node:crypto'
import { maxPayloadBytes } from '../../../../kernel/definition/bounds.js'
import { partitionOf } from '../../../../kernel/partition/partition.js'
import type { Json } from '../../../../kernel/definition/json.js'
import { maxKeyBytes, observationProblem } from '../../polling/read-poll.js'
import type { ConfiguredSensor, Observation, PollContext, PollResult } from '../../sensor.js'
import { messageOf, pickLabel, toLabel } from '../body-pick.js'
import { complaintOf, pageResult } from '../page-result.js'
import { listOf, mapOf, optional, orNull, text, type StateOf } from '../state-table.js'
import { askDatabase, parameterText } from './database.js'
import { quoted, readRowsConfig, type SqlRowsConfig, type SqlRowsOptions } from './rows-options.js'
import {
  afterPage,
  beginSweeps,
  nextStart,
  rowPlace,
  sweeps,
  type RowPlace,
  type SweepStart,
  type Sweeps,
} from './row-sweep.js'
import { sqlSensor } from './sql-sensor.js'
import {
  instantOf,
  jsonValueOf,
  shortText,
  sqlValueOf,
  storedValueOf,
  type SqlAnswer,
  type SqlCell,
  type StoredValue,
} from './value.js'

/** How far the rows were read, and the keys of the last found rows, so that they are not reported again. */
export const rowsState = mapOf({
  sweeps: orNull(sweeps),
  recent: listOf(text),
  /** The rows that could not be reported; each poll tries them again. */
  failing: optional(listOf(rowPlace)),
  /** An error that the next poll reports before it reads anything. */
  complaint: optional(orNull(text)),
})

/** The state of a sensor of new rows. */
export type SqlRowsState = StateOf<typeof rowsState>

/** A sensor that finds every new or changed row of a table or query, in the order of a cursor of value and id. */
export function sqlRowsSensor(options: SqlRowsOptions): ConfiguredSensor<SqlRowsConfig, SqlRowsState> {
  return sqlSensor(readRowsConfig(options), { sweeps: null, recent: [] }, readRows)
}

async function readRows(
  state: SqlRowsState,
  context: PollContext<SqlRowsConfig>,
): Promise<PollResult<SqlRowsState>> {
  const complaint = complaintOf(state)
  if (complaint !== undefined) return complaint
  const sweeps = state.sweeps ?? (await begin(context))
  if (state.sweeps === null && context.config.startFrom === 'now') {
    return { kind: 'no-trigger', reason: 'existing rows are ignored', state: { ...state, sweeps } }
  }
  return await readPage({ ...state, sweeps }, context)
}

type Reading = SqlRowsState & { readonly sweeps: Sweeps }

/** Reads the last row before any other, so that rows written later are known to come after it. */
async function begin({ config, now, signal }: PollContext<SqlRowsConfig>): Promise<Sweeps> {
  const { value, id } = columnsOf(config)
  const sql = `${selected(config)} order by ${value} desc, ${id} desc limit 1`
  const answer = await askDatabase(config, { sql, parameters: [], signal })
  const [last] = placesOf(answer, config)
  return beginSweeps({ now: now.getTime(), last: last ?? null, startFrom: config.startFrom })
}

async function readPage(
  state: Reading,
  context: PollContext<SqlRowsConfig>,
): Promise<PollResult<SqlRowsState>> {
  const { config, signal } = context
  const now = context.now.getTime()
  const { limit, reachMs } = config
  const found = collector(state, context)
  await found.takeAll(await askAgain(state, context))
  const question = pageQuestion(config, {
    start: nextStart(state.sweeps, { now, reachMs }),
    after: state.sweeps.after,
  })
  const answer = await askDatabase(config, { ...question, signal })
  const page = { ...answer, rows: answer.rows.slice(0, limit) }
  const { last, problem } = await found.takeAll(page)
  const hasMore = answer.rows.length > limit || problem !== undefined
  const isStuck = problem !== undefined && last === null
  const sweeps = isStuck ? state.sweeps : afterPage(state.sweeps, { now, reachMs, last, hasMore })
  const next = { sweeps, ...found.memory() }
  return pageResult({ found: found.observations, state: next, hasMore, problem, reason: 'no new rows' })
}

/** Reads the rows that could not be reported again; a removed or changed row is no longer among them. */
async function askAgain(
  { failing = [] }: SqlRowsState,
  { config, signal }: PollContext<SqlRowsConfig>,
): Promise<SqlAnswer> {
  if (failing.length === 0) return { columns: [], rows: [] }
  const { value, id } = columnsOf(config)
  const parameters = failing.flatMap((place) => [place.value, place.id])
  const nth = (n: number): string => parameterText(config.url ?? '', n)
  const each = failing.map((_, i) => `(${value} = ${nth(2 * i + 1)} and ${id} = ${nth(2 * i + 2)})`)
  const sql = `${selected(config)} and (${each.join(' or ')}) order by ${value}, ${id} limit ${maxFailing}`
  return await askDatabase(config, { sql, parameters, signal })
}

/** Enough to continue after a few bad rows; with more of them the settings are wrong, and the rest waits until they are fixed. */
const maxFailing = 20

/** Enough for a usual look-back; beyond that the store knows the keys. */
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
  // One row comparison instead of two conditions, so that an index on both columns is used.
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
  if (cell === undefined) throw new Error('the rows do not have columns with the names in `cursor`')
  const stored = storedValueOf(cell)
  if (stored.text === undefined) throw new Error('the columns of a cursor are numbers, times or short texts')
  return stored
}

/** Collects the observations of one poll, and what its state remembers of them. */
function collector(state: SqlRowsState, context: PollContext<SqlRowsConfig>) {
  const observations: Observation[] = []
  const recent = [...state.recent]
  const known = new Set(recent)
  const retried = new Set(state.failing?.map((place) => digestOf(keyOf(place, context.config))))
  const failing = new Map<string, RowPlace>()
  let complaint: string | null = null

  /** Returns the reason if the row has to wait. */
  async function take(row: Cells, place: RowPlace): Promise<string | undefined> {
    const key = keyOf(place, context.config)
    const digest = digestOf(key)
    if (known.has(digest) || failing.has(digest)) return undefined
    try {
      observations.push(await observe(row, place, { key, context }))
      known.add(digest)
      recent.push(digest)
    } catch (error) {
      const problem = `row ${key} cannot be reported: ${messageOf(error)}`
      if (failing.size >= maxFailing) return `${problem}; nor can ${maxFailing} others, so the rest waits`
      failing.set(digest, place)
      if (!retried.has(digest)) complaint ??= problem
    }
    return undefined
  }

  return {
    observations,
    /** Processes rows in order. Returns the last processed row, and the reason if it had to stop before the end. */
    async takeAll(page: SqlAnswer) {
      let last: RowPlace | null = null
      for (const [index, place] of placesOf(page, context.config).entries()) {
        const cells = page.rows[index] ?? []
        const row = Object.fromEntries(page.columns.map((name, i) => [name, cells[i] as SqlCell]))
        const problem = await take(row, place)
        if (problem !== undefined) return { last, problem }
        last = place
      }
      return { last, problem: undefined }
    },
    memory: () => ({ recent: recent.slice(-maxRecent), failing: [...failing.values()], complaint }),
  }
}

/** The observation of a row; throws if it cannot be stored, because it would make all others fail. */
async function observe(
  row: Cells,
  place: RowPlace,
  { key, context }: { readonly key: string; readonly context: PollContext<SqlRowsConfig> },
): Promise<Observation> {
  const partition = await partitionFor(row, place, context)
  const observation = { key, partition, payload: payloadOf(row, place) }
  const problem = observationProblem(observation)
  if (problem !== undefined) throw new Error(problem)
  return observation
}

/** The id is encoded without `@`, so that the key is unambiguous. */
function keyOf({ value, id }: RowPlace, { per }: SqlRowsConfig): string {
  const name = encodeURIComponent(shortText(id))
  const key = per === 'row' ? name : `${name}@${shortText(value)}`
  return Buffer.byteLength(key) <= maxKeyBytes ? key : createHash('sha256').update(key).digest('hex')
}

/** 64 bits: a collision among the few stored digests is practically impossible. */
function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 11)
}

type Cells = Readonly<Record<string, SqlCell>>

async function partitionFor(
  row: Cells,
  { value }: RowPlace,
  { config, now, timezone }: PollContext<SqlRowsConfig>,
): Promise<string> {
  const { partition } = config
  if (partition === undefined) return partitionOf('day', instantOf(value) ?? now.getTime(), timezone)
  if (typeof partition === 'string') return toLabel('partition', row[partition]?.text)
  const values = Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, sqlValueOf(cell)]))
  return await pickLabel('partition', partition, values)
}

/** The row; if it is too large for a payload, only its cursor columns. */
function payloadOf(row: Cells, { value, id }: RowPlace): Json {
  const payload = Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, jsonValueOf(cell)]))
  const isSmall = Buffer.byteLength(JSON.stringify(payload)) <= maxPayloadBytes
  return isSmall ? payload : { value: value.text ?? null, id: id.text ?? null }
}
