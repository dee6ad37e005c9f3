import { instantOfRunId, type RunId } from '../../../kernel/identity/identity.js'
import type { Run } from '../../../kernel/run/run.js'
import { afterAllIds, idAfter, idRange, type IdRange, type RunFilter } from '../../run-filter.js'
import { runOf, type RunRow } from '../rows/run-rows.js'
import { blocked, cancelled, delayed, failed, ready, running } from '../rows/states.js'
import type { SqlScalar, SqlValue } from '../statement.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'
import { FROM_RUNS, UNHAPPY } from './read-runs.js'
import { conditionsFrom, conditionValues, statesAsked } from './run-conditions.js'

/**
 * How many runs one step reads if no index fits the filter: other work continues in between. Reading the runs of one
 * trigger, which are far apart, and messages costs about ten times as much.
 */
const runsPerLook = 10_000
const costlyRunsPerLook = 1000

// Relies on: runs_ready, runs_delayed, runs_blocked.
const PENDING_SEQS = `select seq from rota.runs where state = ${ready}
    union all select seq from rota.runs where state = ${delayed}
    union all select seq from rota.runs where state = ${blocked}`

// The same, up to the bound.
const FEW_PENDING = `select count(*) from (
    select 1 from (${PENDING_SEQS}) pending limit ${runsPerLook + 1}
  ) found`

/** A part of a list, and where to continue if there is more. */
export interface Listed {
  /** In the order of the search. */
  readonly runs: readonly Run[]
  readonly next: RunFilter | undefined
  readonly looked: number
}

/** A part of a count, and where to continue if there is more. */
export interface Counted {
  readonly count: number
  readonly next: RunFilter | undefined
  readonly looked: number
}

/** How many runs a filter matches, up to its limit. */
export function* countRuns(session: Session, filter: RunFilter): Verb<Counted> {
  const { where, values, next } = yield* lookInto(session, filter)
  const sql = `select count(*) from (select 1 from rota.runs where ${where} limit $${values.length + 1}) found`
  const count = (yield* session.sql.value<number>(sql, ...values, filter.limit)) ?? 0
  return { count, next: rest(filter, count, next), looked: lookSize(filter) }
}

/** Runs, newest first. An id begins with its due instant, so the order of ids is the order of due instants. */
export function* listRuns(session: Session, filter: RunFilter): Verb<Listed> {
  const { place, where, values, next } = yield* lookInto(session, filter)
  const sql = `${FROM_RUNS} where ${where} order by ${orderOf(place, filter)} limit $${values.length + 1}`
  const runs = (yield* session.sql.all<RunRow>(sql, ...values, filter.limit)).map(runOf)
  return { runs, next: rest(filter, runs.length, next), looked: lookSize(filter) }
}

/** The filter for the rest after a part. */
function rest(filter: RunFilter, found: number, next: RunId | undefined): RunFilter | undefined {
  const limit = filter.limit - found
  if (next === undefined || limit <= 0) return undefined
  return { ...filter, limit, ...(filter.newerThan === undefined ? { before: next } : { newerThan: next }) }
}

/** The rows that an index selects. */
interface Place {
  /** The range of their ids. */
  readonly range: IdRange
  readonly condition: string
  /** The values of the condition for a range of ids (default: its two ends). */
  readonly valuesIn?: (range: IdRange) => readonly SqlScalar[]
  /** The columns that order the rows like their ids (default: the id). */
  readonly order?: readonly string[]
  /** Whether the index has so few rows that all of them can be read. */
  readonly isSmall?: boolean
  /** Whether its rows match the whole filter, except the times. */
  readonly isExact: boolean
}

interface Look {
  readonly place: Place
  readonly where: string
  readonly values: readonly SqlValue[]
  /** Where to look next; undefined if this look is the last. */
  readonly next: RunId | undefined
}

/** Where the runs of a filter are, for one look. */
function* lookInto(session: Session, filter: RunFilter): Verb<Look> {
  const place = yield* placeOf(session, filter)
  const { condition, isExact, isSmall = false } = place
  const end = isExact || isSmall ? undefined : yield* endOfLook(session, place, filter)
  const own = valuesIn(place, end === undefined ? place.range : upTo(end, place.range, filter))
  const due = own.length + 1
  const where = `${condition} and runs.due_at >= $${due}::int8 and runs.due_at <= $${due + 1}::int8`
  const { fromAt, untilAt } = dueRange(filter)
  if (isExact) return { place, where, values: [...own, fromAt, untilAt], next: end }
  const given = yield* conditionValues(session, filter)
  const values = [...own, fromAt, untilAt, ...given]
  return { place, where: `${where} and ${conditionsFrom(due + 2)}`, values, next: end }
}

/** The part of a range that one look reads. */
function upTo(end: RunId, { from, until }: IdRange, { newerThan }: RunFilter): IdRange {
  return newerThan === undefined ? { from: end, until } : { from, until: idAfter(end) }
}

function valuesIn({ valuesIn: own }: Place, range: IdRange): readonly SqlScalar[] {
  return own === undefined ? [range.from, range.until] : own(range)
}

/** The last id of the next look in a place; undefined if the place ends earlier. */
function* endOfLook(session: Session, place: Place, filter: RunFilter): Verb<RunId | undefined> {
  const end = filter.newerThan === undefined ? 'min' : 'max'
  const size = lookSize(filter)
  const sql = `select count(*) as looked, ${end}(id) as end_id from (
      select runs.id from rota.runs where ${place.condition} order by ${orderOf(place, filter)} limit ${size}
    ) looked_at`
  const found = yield* session.sql.get<{ looked: number; end_id: RunId }>(
    sql,
    ...valuesIn(place, place.range),
  )
  return found !== undefined && found.looked === size ? found.end_id : undefined
}

function lookSize({ trigger, errorText }: RunFilter): number {
  return typeof trigger === 'string' || errorText !== undefined ? costlyRunsPerLook : runsPerLook
}

function orderOf({ order = ['runs.id'] }: Place, { newerThan }: RunFilter): string {
  return order.map((column) => `${column}${newerThan === undefined ? ' desc' : ''}`).join(', ')
}

const IDS = 'runs.id >= $1 and runs.id < $2'

/** The id as an expression, so that SQLite does not use the index of all ids. */
const ID = `(runs.id || '')`
const OTHER_IDS = `${ID} >= $1 and ${ID} < $2`

/** The index to use for a filter. */
function* placeOf(session: Session, filter: RunFilter): Verb<Place> {
  if (typeof filter.trigger === 'string') return triggerPlace(filter, filter.trigger)
  const range = idRange(filter)
  const states = statesAsked(filter)
  const only = states?.length === 1 ? states[0] : undefined
  const isExact = isWithout(filter, ['trigger', 'worker', ...unindexed])
  // Relies on: runs_unhappy.
  if (only === 'failed' || only === 'cancelled') {
    const code = only === 'failed' ? failed : cancelled
    return { condition: `runs.${UNHAPPY} and runs.state = ${code} and ${IDS}`, range, isExact }
  }
  // Relies on: runs_running.
  if (only === 'running') {
    const condition = `runs.state = ${running} and ${OTHER_IDS}`
    return { condition, range, order: [ID], isSmall: true, isExact: false }
  }
  if (only === 'pending' && ((yield* session.sql.value<number>(FEW_PENDING)) ?? 0) <= runsPerLook) {
    const condition = `runs.seq = any(array(${PENDING_SEQS})) and ${OTHER_IDS}`
    return { condition, range, order: [ID], isSmall: true, isExact }
  }
  // Relies on: the unique index of runs.id.
  return { condition: IDS, range, isExact: isExact && states === undefined }
}

/** The runs of a trigger. Relies on: runs_trigger, which is ordered by the due instant. */
function triggerPlace(filter: RunFilter, trigger: string): Place {
  const { before, newerThan } = filter
  const { fromAt, untilAt } = dueRange(filter)
  return {
    // Ids do not have these times: the id of a sensor's run begins with another instant.
    range: idRange({ before, newerThan }),
    condition: `${OTHER_IDS} and runs.trigger = $3 and runs.due_at >= $4 and runs.due_at <= $5`,
    valuesIn: ({ from, until }) => {
      const first = from === '' ? fromAt : Math.max(fromAt, instantOfRunId(from))
      const last = until === afterAllIds ? untilAt : Math.min(untilAt, instantOfRunId(until))
      return [from, until, trigger, first, last]
    },
    order: ['runs.due_at', 'runs.id'],
    isExact: isWithout(filter, ['state', 'worker', ...unindexed]),
  }
}

const unindexed = ['job', 'queue', 'origin', 'partition', 'labels', 'errorCode', 'errorText', 'late'] as const

function isWithout(filter: RunFilter, names: readonly (keyof RunFilter)[]): boolean {
  return names.every((name) => filter[name] === undefined)
}

/** The column has whole milliseconds, and a computed bound may have a fraction. */
function dueRange({ sinceAt = 0, untilAt = latest }: RunFilter): { fromAt: number; untilAt: number } {
  return { fromAt: Math.ceil(sinceAt), untilAt: Math.floor(untilAt) }
}

/** Later than any due instant. */
const latest = Number.MAX_SAFE_INTEGER
