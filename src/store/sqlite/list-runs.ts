import { idBounds, instantOfRunId, type RunId } from '../../kernel/identity/identity.js'
import type { Run, RunState } from '../../kernel/run/run.js'
import type { RunFilter } from '../port.js'
import { runOf, type RunRow } from '../sql/rows/run-rows.js'
import { blocked, delayed, ready, running, statesOf } from '../sql/rows/states.js'
import type { SqlValue } from '../sql/statement.js'
import { FROM_RUNS, UNHAPPY } from './read-runs.js'
import type { Session } from './session.js'

/** How many runs are looked at in one go where no index knows the filter: the event loop gets its turn in between. */
const runsPerLook = 10_000

// Relies on: the unique index of runs.id alone.
const WINDOW_END = `select min(id) from (
    select id from runs where (?1 is null or id < ?1) order by id desc limit ${runsPerLook}
  )`

// Relies on: runs_ready, runs_delayed, runs_blocked; no further than the bound.
const FEW_PENDING = `select count(*) from (
    select 1 from runs where state = ${ready}
    union all select 1 from runs where state = ${delayed}
    union all select 1 from runs where state = ${blocked}
    limit ${runsPerLook + 1}
  )`

const PENDING_SEQS = `select seq from runs where state = ${ready}
    union all select seq from runs where state = ${delayed}
    union all select seq from runs where state = ${blocked}`

/** A part of a list, and where to go on if it is not the whole. */
export interface Listed {
  readonly runs: readonly Run[]
  readonly next: RunFilter | undefined
}

/** Runs, newest first. An id begins with its due instant, so the order of ids is the order of due instants. */
export function listRuns(session: Session, filter: RunFilter): Listed {
  const place = indexedPlace(session, filter)
  if (place !== undefined) return { runs: select(session, filter, place), next: undefined }
  const { from, until } = idBounds(filter)
  const before = lesser(filter.before, until)
  const end = session.db.value(WINDOW_END, before ?? null) as RunId | undefined
  if (end === undefined) return { runs: [], next: undefined }
  const runs = select(session, filter, { conditions: ['runs.id >= ?'], values: [end] })
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
  readonly conditions: readonly string[]
  readonly values: readonly SqlValue[]
}

/** What leads straight to the runs of a filter; nothing where only looking through them helps. */
function indexedPlace(session: Session, filter: RunFilter): Place | undefined {
  const { trigger, state, job, before } = filter
  if (trigger !== undefined) {
    // Relies on: runs_trigger, which is ordered by the due instant.
    if (before === undefined) return { conditions: ['runs.trigger = ?'], values: [trigger] }
    return { conditions: ['runs.trigger = ?', 'runs.due_at <= ?'], values: [trigger, instantOfRunId(before)] }
  }
  // Relies on: runs_unhappy.
  if (state === 'failed' || state === 'cancelled') return { conditions: [`runs.${UNHAPPY}`], values: [] }
  // Relies on: runs_running.
  if (state === 'running') return { conditions: [`runs.seq in (${runningSeqs})`], values: [] }
  if (state === 'pending' && (session.db.value(FEW_PENDING) as number) <= runsPerLook) {
    return { conditions: [`runs.seq in (${PENDING_SEQS})`], values: [] }
  }
  // Relies on: the unique index of runs.id, backwards.
  return state === undefined && job === undefined ? { conditions: [], values: [] } : undefined
}

const runningSeqs = `select seq from runs where state = ${running}`

function select(session: Session, filter: RunFilter, place: Place): Run[] {
  const conditions = [...place.conditions]
  const values = [...place.values]
  const where = (condition: string, value: SqlValue | undefined): void => {
    if (value === undefined) return
    conditions.push(condition)
    values.push(value)
  }
  if (filter.state !== undefined) conditions.push(stateCondition(filter.state))
  where('runs.job = ?', filter.job)
  where('runs.due_at >= ?', filter.sinceAt)
  where('runs.due_at <= ?', filter.untilAt)
  const { from, until } = idBounds(filter)
  where('runs.id >= ?', filter.trigger === undefined ? from : undefined)
  where('runs.id < ?', filter.trigger === undefined ? lesser(filter.before, until) : filter.before)
  const order = filter.trigger === undefined ? 'runs.id desc' : 'runs.due_at desc, runs.id desc'
  const condition = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  const sql = `${FROM_RUNS} ${condition} order by ${order} limit ?`
  return session.db.all<RunRow>(sql, ...values, filter.limit).map(runOf)
}

function stateCondition(name: RunState): string {
  const states = statesOf(name)
  return states.length === 1 ? `runs.state = ${states[0]}` : `runs.state in (${states.join(', ')})`
}
