import { idBounds, instantOfRunId, type RunId } from '../../kernel/identity/identity.js'
import type { Run, RunState } from '../../kernel/run/run.js'
import type { RunFilter } from '../port.js'
import { runOf, type RunRow } from '../sql/rows/run-rows.js'
import { cancelled, failed, running, statesOf, blocked, delayed, ready } from '../sql/rows/states.js'
import type { SqlValue } from '../sql/statement.js'
import { FROM_RUNS } from './read-runs.js'
import type { Session } from './session.js'

/** How many runs are looked at in one go where no index knows the filter. */
const runsPerLook = 10_000

// Relies on: the unique index of runs.id alone.
const WINDOW_END = `select min(id) from (
    select id from rota.runs where ($1::text is null or id < $1::text) order by id desc limit ${runsPerLook}
  ) newest`

// Relies on: runs_ready, runs_delayed, runs_blocked; no further than the bound.
const FEW_PENDING = `select count(*) from (
    (select 1 from rota.runs where state = ${ready} limit ${runsPerLook + 1})
    union all (select 1 from rota.runs where state = ${delayed} limit ${runsPerLook + 1})
    union all (select 1 from rota.runs where state = ${blocked} limit ${runsPerLook + 1})
  ) found`

const PENDING_SEQS = `array(select seq from rota.runs where state = ${ready}
    union all select seq from rota.runs where state = ${delayed}
    union all select seq from rota.runs where state = ${blocked})`

/** A part of a list, and where to go on if it is not the whole. */
export interface Listed {
  readonly runs: readonly Run[]
  readonly next: RunFilter | undefined
}

/** Runs, newest first. An id begins with its due instant, so the order of ids is the order of due instants. */
export async function listRuns(session: Session, filter: RunFilter): Promise<Listed> {
  const place = await indexedPlace(session, filter)
  if (place !== undefined) return { runs: await select(session, filter, place), next: undefined }
  const { from, until } = idBounds(filter)
  const before = lesser(filter.before, until)
  const end = (await session.db.value(WINDOW_END, before ?? null)) as RunId | undefined
  if (end === undefined) return { runs: [], next: undefined }
  const runs = await select(session, filter, { condition: 'runs.id >= $1', values: [end] })
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
  readonly values: readonly SqlValue[]
}

/** What leads straight to the runs of a filter; nothing where only looking through them helps. */
async function indexedPlace(session: Session, filter: RunFilter): Promise<Place | undefined> {
  const { trigger, state, job, before } = filter
  if (trigger !== undefined) {
    // Relies on: runs_trigger, which is ordered by the due instant.
    if (before === undefined) return { condition: 'runs.trigger = $1', values: [trigger] }
    const values = [trigger, instantOfRunId(before)]
    return { condition: 'runs.trigger = $1 and runs.due_at <= $2', values }
  }
  // Relies on: runs_unhappy.
  if (state === 'failed' || state === 'cancelled')
    return { condition: `runs.state in (${failed}, ${cancelled})`, values: [] }
  // Relies on: runs_running.
  if (state === 'running') return { condition: `runs.state = ${running}`, values: [] }
  if (state === 'pending' && ((await session.db.value(FEW_PENDING)) as number) <= runsPerLook) {
    return { condition: `runs.seq = any(${PENDING_SEQS})`, values: [] }
  }
  // Relies on: the unique index of runs.id, backwards.
  return state === undefined && job === undefined ? { condition: 'true', values: [] } : undefined
}

async function select(session: Session, filter: RunFilter, place: Place): Promise<Run[]> {
  const conditions = [place.condition]
  const values = [...place.values]
  const where = (condition: string, value: SqlValue | undefined): void => {
    if (value === undefined) return
    values.push(value)
    conditions.push(`${condition} $${values.length}`)
  }
  if (filter.state !== undefined) conditions.push(stateCondition(filter.state))
  where('runs.job =', filter.job)
  // A column of whole milliseconds takes no fraction, which a computed bound may have.
  where('runs.due_at >=', filter.sinceAt === undefined ? undefined : Math.ceil(filter.sinceAt))
  where('runs.due_at <=', filter.untilAt === undefined ? undefined : Math.floor(filter.untilAt))
  const { from, until } = idBounds(filter)
  where('runs.id >=', filter.trigger === undefined ? from : undefined)
  where('runs.id <', filter.trigger === undefined ? lesser(filter.before, until) : filter.before)
  values.push(filter.limit)
  const order = filter.trigger === undefined ? 'runs.id desc' : 'runs.due_at desc, runs.id desc'
  const sql = `${FROM_RUNS} where ${conditions.join(' and ')} order by ${order} limit $${values.length}`
  return (await session.db.all<RunRow>(sql, ...values)).map(runOf)
}

function stateCondition(name: RunState): string {
  const states = statesOf(name)
  return states.length === 1 ? `runs.state = ${states[0]}` : `runs.state in (${states.join(', ')})`
}
