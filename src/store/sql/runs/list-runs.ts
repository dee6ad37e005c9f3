import { idBounds, instantOfRunId, type RunId } from '../../../kernel/identity/identity.js'
import type { Run, RunState } from '../../../kernel/run/run.js'
import type { RunFilter } from '../../run-filter.js'
import { runOf, type RunRow } from '../rows/run-rows.js'
import { blocked, delayed, ready, running, statesOf } from '../rows/states.js'
import type { SqlScalar } from '../statement.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'
import { FROM_RUNS, UNHAPPY } from './read-runs.js'

/** How many runs are looked at in one go where no index knows the filter: others get their turn in between. */
const runsPerLook = 10_000

// Relies on: the unique index of runs.id alone.
const WINDOW_END = `select min(id) from (
    select id from rota.runs where ($1::text is null or id < $1::text) order by id desc limit ${runsPerLook}
  ) newest`

// Relies on: runs_ready, runs_delayed, runs_blocked.
const PENDING_SEQS = `select seq from rota.runs where state = ${ready}
    union all select seq from rota.runs where state = ${delayed}
    union all select seq from rota.runs where state = ${blocked}`

// The same, no further than the bound.
const FEW_PENDING = `select count(*) from (
    select 1 from (${PENDING_SEQS}) pending limit ${runsPerLook + 1}
  ) found`

/** A part of a list, and where to go on if it is not the whole. */
export interface Listed {
  readonly runs: readonly Run[]
  readonly next: RunFilter | undefined
}

/** A part of a count, and where to go on if it is not the whole. */
export interface Counted {
  readonly count: number
  readonly next: RunFilter | undefined
}

/** How many runs a filter matches, up to its limit. */
export function* countRuns(session: Session, filter: RunFilter): Verb<Counted> {
  const place = yield* indexedPlace(session, filter)
  if (place !== undefined) return { count: yield* count(session, filter, place), next: undefined }
  const { from, until } = idBounds(filter)
  const end = yield* session.sql.value<RunId>(WINDOW_END, lesser(filter.before, until) ?? null)
  if (end === undefined) return { count: 0, next: undefined }
  const found = yield* count(session, filter, { condition: 'runs.id >= $1', values: [end] })
  const limit = filter.limit - found
  const isOver = limit <= 0 || (from !== undefined && end < from)
  return { count: found, next: isOver ? undefined : { ...filter, limit, before: end } }
}

function* count(session: Session, filter: RunFilter, place: Place): Verb<number> {
  const { where, values } = whereOf(filter, place)
  const sql = `select count(*) from (select 1 from rota.runs where ${where} limit $${values.length + 1}) found`
  return (yield* session.sql.value<number>(sql, ...values, filter.limit)) ?? 0
}

/** Runs, newest first. An id begins with its due instant, so the order of ids is the order of due instants. */
export function* listRuns(session: Session, filter: RunFilter): Verb<Listed> {
  const place = yield* indexedPlace(session, filter)
  if (place !== undefined) return { runs: yield* select(session, filter, place), next: undefined }
  const { from, until } = idBounds(filter)
  const before = lesser(filter.before, until)
  const end = yield* session.sql.value<RunId>(WINDOW_END, before ?? null)
  if (end === undefined) return { runs: [], next: undefined }
  const runs = yield* select(session, filter, { condition: 'runs.id >= $1', values: [end] })
  const limit = filter.limit - runs.length
  // Nothing of the stretch of time lies behind its first instant.
  const isOver = limit <= 0 || (from !== undefined && end < from)
  return { runs, next: isOver ? undefined : { ...filter, limit, before: end } }
}

function lesser(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one < other ? one : other
}

interface Place {
  readonly condition: string
  readonly values: readonly SqlScalar[]
  /** The id in conditions and in the order (default: the column). */
  readonly id?: string
}

/** What leads straight to the runs of a filter; nothing where only looking through them helps. */
function* indexedPlace(session: Session, filter: RunFilter): Verb<Place | undefined> {
  const { trigger, state, job, before } = filter
  if (trigger !== undefined) {
    // Relies on: runs_trigger, which is ordered by the due instant.
    if (before === undefined) return { condition: 'runs.trigger = $1', values: [trigger] }
    const values = [trigger, instantOfRunId(before)]
    return { condition: 'runs.trigger = $1 and runs.due_at <= $2', values }
  }
  // Relies on: runs_unhappy.
  if (state === 'failed' || state === 'cancelled') return { condition: `runs.${UNHAPPY}`, values: [] }
  // Relies on: runs_running. With the id as an expression SQLite does not go through the index of all ids instead.
  if (state === 'running') return { condition: `runs.state = ${running}`, values: [], id: `(runs.id || '')` }
  if (state === 'pending' && ((yield* session.sql.value<number>(FEW_PENDING)) ?? 0) <= runsPerLook)
    return { condition: `runs.seq = any(array(${PENDING_SEQS}))`, values: [] }
  // Relies on: the unique index of runs.id, backwards.
  return state === undefined && job === undefined ? { condition: 'true', values: [] } : undefined
}

function* select(session: Session, filter: RunFilter, place: Place): Verb<Run[]> {
  const { where, values } = whereOf(filter, place)
  const order =
    filter.trigger === undefined ? `${place.id ?? 'runs.id'} desc` : 'runs.due_at desc, runs.id desc'
  const sql = `${FROM_RUNS} where ${where} order by ${order} limit $${values.length + 1}`
  return (yield* session.sql.all<RunRow>(sql, ...values, filter.limit)).map(runOf)
}

/** The rows of a filter, as a condition and its values. */
function whereOf(filter: RunFilter, place: Place): { where: string; values: readonly SqlScalar[] } {
  const { condition, id = 'runs.id' } = place
  const conditions = [condition]
  const values = [...place.values]
  const where = (column: string, bound: SqlScalar | undefined): void => {
    if (bound === undefined) return
    values.push(bound)
    conditions.push(`${column} $${values.length}`)
  }
  if (filter.state !== undefined) conditions.push(stateCondition(filter.state))
  where('runs.job =', filter.job)
  // A column of whole milliseconds takes no fraction, which a computed bound may have.
  where('runs.due_at >=', filter.sinceAt === undefined ? undefined : Math.ceil(filter.sinceAt))
  where('runs.due_at <=', filter.untilAt === undefined ? undefined : Math.floor(filter.untilAt))
  const { from, until } = idBounds(filter)
  where(`${id} >=`, filter.trigger === undefined ? from : undefined)
  where(`${id} <`, filter.trigger === undefined ? lesser(filter.before, until) : filter.before)
  return { where: conditions.join(' and '), values }
}

function stateCondition(name: RunState): string {
  const states = statesOf(name)
  return states.length === 1 ? `runs.state = ${states[0]}` : `runs.state in (${states.join(', ')})`
}
