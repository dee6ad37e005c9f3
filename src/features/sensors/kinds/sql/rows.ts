import { createHash } from 'node:crypto'
import { maxPayloadBytes } from '../../../../kernel/definition/bounds.js'
import { partitionOf } from '../../../../kernel/partition/partition.js'
import type { Json } from '../../../../kernel/definition/json.js'
import { maxKeyBytes, observationProblem } from '../../polling/read-poll.js'
import type { ConfiguredSensor, Observation, PollContext, PollResult, Sensor } from '../../sensor.js'
import { messageOf, toLabel, type PickedLabel } from '../body-pick.js'
import { askDatabase, parameterText, refusalOf } from './database.js'
import { watchChannel } from './listen.js'
import type { SqlAnswer } from './question.js'
import { quoted, readRowsConfig, type SqlRowsConfig, type SqlRowsOptions } from './rows-options.js'
import {
  afterPage,
  beginSweeps,
  nextStart,
  type RowPlace,
  type SweepStart,
  type Sweeps,
} from './row-sweep.js'
import {
  instantOf,
  jsonValueOf,
  shortText,
  sqlValueOf,
  storedValueOf,
  type SqlCell,
  type StoredValue,
} from './value.js'

/** How far the rows were read, and the keys of the last found rows, so that they are not reported again. */
export type SqlRowsState = {
  readonly sweeps: Sweeps | null
  readonly recent: readonly string[]
  /** The rows that could not be reported; each poll tries them again. */
  readonly failing?: readonly RowPlace[]
  /** An error that the next poll reports before it reads anything. */
  readonly complaint?: string | null
}

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
    if (state.complaint)
      return { kind: 'error', reason: state.complaint, state: { ...state, complaint: null } }
    try {
      const sweeps = state.sweeps ?? (await begin(context))
      if (state.sweeps === null && context.config.startFrom === 'now') {
        return { kind: 'no-trigger', reason: 'existing rows are ignored', state: { ...state, sweeps } }
      }
      return await readPage({ ...state, sweeps }, context)
    } catch (error) {
      return { kind: 'error', reason: messageOf(error), state }
    }
  },
}

type Reading = SqlRowsState & { readonly sweeps: Sweeps }

/** Reads the last row before any other, so that rows written later are known to come after it. */
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
  const found = new Found(state, context)
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
  return pollResult(found, { sweeps, hasMore, problem })
}

function pollResult(
  found: Found,
  page: { readonly sweeps: Sweeps; readonly hasMore: boolean; readonly problem: string | undefined },
): PollResult<SqlRowsState> {
  const { sweeps, hasMore, problem } = page
  const [first, ...others] = found.observations
  const state = { sweeps, ...found.memory() }
  if (first !== undefined) {
    const more = hasMore || state.complaint !== null
    return { kind: 'trigger', observations: [first, ...others], state, more }
  }
  const reason = problem ?? state.complaint
  if (reason !== null) return { kind: 'error', reason, state: { ...state, complaint: null } }
  return { kind: 'no-trigger', reason: 'no new rows', state, more: hasMore }
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
  if (cell === undefined)
    throw new Error('the rows do not have the columns of the cursor under their own names')
  const stored = storedValueOf(cell)
  if (stored.text === undefined) throw new Error('the columns of a cursor are numbers, times or short texts')
  return stored
}

/** Collects the observations of one poll. */
class Found {
  readonly observations: Observation[] = []
  readonly #context: PollContext<SqlRowsConfig>
  readonly #recent: string[]
  readonly #known: Set<string>
  /** The digests of rows that failed in an earlier poll. */
  readonly #retried: ReadonlySet<string>
  readonly #failing = new Map<string, RowPlace>()
  #complaint: string | null = null

  constructor({ recent, failing = [] }: SqlRowsState, context: PollContext<SqlRowsConfig>) {
    this.#context = context
    this.#recent = [...recent]
    this.#known = new Set(recent)
    this.#retried = new Set(failing.map((place) => digestOf(keyOf(place, context.config))))
  }

  /** Processes rows in order. Returns the last processed row, and the reason if it had to stop before the end. */
  async takeAll(
    page: SqlAnswer,
  ): Promise<{ readonly last: RowPlace | null; readonly problem: string | undefined }> {
    let last: RowPlace | null = null
    for (const [index, place] of placesOf(page, this.#context.config).entries()) {
      const row = Object.fromEntries(page.columns.map((name, i) => [name, page.rows[index]?.[i] as SqlCell]))
      const problem = await this.#take(row, place)
      if (problem !== undefined) return { last, problem }
      last = place
    }
    return { last, problem: undefined }
  }

  /** The state for the next poll. */
  memory(): Required<Pick<SqlRowsState, 'recent' | 'failing' | 'complaint'>> {
    const recent = this.#recent.slice(-maxRecent)
    return { recent, failing: [...this.#failing.values()], complaint: this.#complaint }
  }

  async #take(row: Cells, place: RowPlace): Promise<string | undefined> {
    const key = keyOf(place, this.#context.config)
    const digest = digestOf(key)
    if (this.#known.has(digest) || this.#failing.has(digest)) return undefined
    const observed = await observe(row, place, { key, context: this.#context })
    if (typeof observed !== 'string') {
      this.#known.add(digest)
      this.#recent.push(digest)
      this.observations.push(observed)
      return undefined
    }
    const problem = `row ${key} cannot be reported: ${observed}`
    if (this.#failing.size >= maxFailing) return `${problem}; nor can ${maxFailing} others, so the rest waits`
    this.#failing.set(digest, place)
    if (!this.#retried.has(digest)) this.#complaint ??= problem
    return undefined
  }
}

/** The observation of a row, or its problem: one observation that cannot be stored would make all others fail. */
async function observe(
  row: Cells,
  place: RowPlace,
  { key, context }: { readonly key: string; readonly context: PollContext<SqlRowsConfig> },
): Promise<Observation | string> {
  const partition = await partitionFor(row, place, context)
  if (partition.kind === 'none') return partition.reason
  const observation = { key, partition: partition.label, payload: payloadOf(row, place) }
  return observationProblem(observation) ?? observation
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

/** The row; if it is too large for a payload, only its cursor columns. */
function payloadOf(row: Cells, { value, id }: RowPlace): Json {
  const payload = Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, jsonValueOf(cell)]))
  const isSmall = Buffer.byteLength(JSON.stringify(payload)) <= maxPayloadBytes
  return isSmall ? payload : { value: value.text ?? null, id: id.text ?? null }
}
