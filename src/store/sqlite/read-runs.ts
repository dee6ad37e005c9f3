import type { RunId } from '../../kernel/identity/identity.js'
import type { Attempt, Run, RunState } from '../../kernel/run/run.js'
import type { Instant } from '../../time/instant.js'
import type { Reading } from '../port.js'
import { attemptsIn, type AttemptRow } from '../sql/rows/attempt-rows.js'
import { originCode, runOf, type RunRow } from '../sql/rows/run-rows.js'
import { blocked, cancelled, delayed, done, failed, ready, running, stateName } from '../sql/rows/states.js'
import type { Session } from './session.js'

/** Final runs are counted up to here. */
const countBound = 100_000

/** Runs with the ids of their workers. */
export const FROM_RUNS = `select runs.*, workers.id as worker_id from runs left join workers on workers.key = runs.worker`

// Relies on: the unique index of runs.id.
const RUN = `${FROM_RUNS} where runs.id = ?`

const BY_PREFIX = `${FROM_RUNS} where runs.id >= ? and runs.id < ? order by runs.id limit ?`

// Relies on: runs_trigger.
const INSTANTS = `select due_at, id, state from runs
  where trigger = ? and due_at >= ? and due_at <= ? and origin = ${originCode('trigger')} order by due_at, id limit ?`

/** SQLite takes the index runs_unhappy only where it finds the condition of the index word for word. */
export const UNHAPPY = `state in (${failed}, ${cancelled})`

// Relies on: the partial index of each state; the last one on any index that has all rows, read no further than the bound.
const COUNTS = `select
  (select count(*) from runs where state = ${ready}) + (select count(*) from runs where state = ${delayed})
    + (select count(*) from runs where state = ${blocked}) as pending,
  (select count(*) from runs where state = ${running}) as running,
  (select count(*) from runs where ${UNHAPPY} and state = ${failed}) as failed,
  (select count(*) from runs where ${UNHAPPY} and state = ${cancelled}) as cancelled`

const COUNT_UP_TO = `select count(*) from (select 1 from runs indexed by sqlite_autoindex_runs_1 limit ?)`

// Relies on: primary key.
const ATTEMPTS = `select attempts.*, workers.id as worker_id from attempts
  left join workers on workers.key = attempts.worker where run = ? order by attempt`

/** The run of an id. */
export function run(session: Session, id: RunId): Run | undefined {
  const row = session.db.get<RunRow>(RUN, id)
  return row === undefined ? undefined : runOf(row)
}

/** Runs whose id starts with a text, in order. */
export function runsByPrefix(session: Session, prefix: string, limit: number): Run[] {
  // No character of an id sorts behind this one.
  return session.db.all<RunRow>(BY_PREFIX, prefix, `${prefix}\u{10ffff}`, limit).map(runOf)
}

/** The due instants of a trigger's own runs, oldest first. */
export function runInstants(
  session: Session,
  request: Parameters<Reading['runInstants']>[0],
): { dueAt: Instant; id: RunId; state: RunState }[] {
  const { trigger, fromAt, untilAt, limit } = request
  const rows = session.db.all<{ due_at: number; id: string; state: number }>(
    INSTANTS,
    trigger,
    fromAt,
    untilAt,
    limit,
  )
  return rows.map(({ due_at, id, state }) => ({ dueAt: due_at, id, state: stateName(state) }))
}

/** How many runs are in each state: done is the rest of all, counted no further than a bound. */
export function counts(session: Session): Record<RunState, number> {
  const { db } = session
  const counted = db.get<Record<Exclude<RunState, 'done'>, number>>(COUNTS)
  if (counted === undefined) throw new Error('Counting gave no row')
  const { pending, running, failed, cancelled } = counted
  const others = pending + running + failed + cancelled
  const all = db.value(COUNT_UP_TO, others + countBound) as number
  return { pending, running, done: all - others, failed, cancelled }
}

/** The attempts of a run, without gaps: those that were written down, and the one that lives in the run's own row. */
export function attempts(session: Session, id: RunId): Attempt[] {
  const row = session.db.get<RunRow>(RUN, id)
  return row === undefined ? [] : attemptsOf(session, row)
}

/** The attempts of a run whose row is at hand. */
export function attemptsOf(session: Session, row: RunRow): Attempt[] {
  // Nearly every run has one attempt, which lives in its row: nothing has to be looked up.
  const isFirst = row.attempt === 0 || (row.attempt === 1 && (row.state === running || row.state === done))
  return attemptsIn(row, isFirst ? [] : session.db.all<AttemptRow>(ATTEMPTS, row.seq))
}
