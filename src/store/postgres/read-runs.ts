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
export const FROM_RUNS = `select runs.*, workers.id as worker_id from rota.runs left join rota.workers on workers.key = runs.worker`

// Relies on: the unique index of runs.id.
const RUN = `${FROM_RUNS} where runs.id = $1`

const BY_PREFIX = `${FROM_RUNS} where runs.id >= $1 and runs.id < $2 order by runs.id limit $3`

// Relies on: runs_trigger.
const INSTANTS = `select due_at, id, state from rota.runs
  where trigger = $1 and due_at >= $2 and due_at <= $3 and origin = ${originCode('trigger')}
  order by due_at, id limit $4`

// Relies on: the partial index of each state; the last one on any index that has all rows, read no further than the bound.
const COUNTS = `select
  (select count(*) from rota.runs where state = ${ready}) + (select count(*) from rota.runs where state = ${delayed})
    + (select count(*) from rota.runs where state = ${blocked}) as pending,
  (select count(*) from rota.runs where state = ${running}) as running,
  (select count(*) from rota.runs where state = ${failed} and state in (${failed}, ${cancelled})) as failed,
  (select count(*) from rota.runs where state = ${cancelled} and state in (${failed}, ${cancelled})) as cancelled,
  (select count(*) from (select 1 from rota.runs where state >= ${done} and state = ${done} limit ${countBound}) ended) as done`

// Relies on: primary key.
const RUN_WITH_ATTEMPTS = `select runs.*, workers.id as worker_id, (
    select json_agg(found) from (
      select attempts.*, workers.id as worker_id from rota.attempts
      left join rota.workers on workers.key = attempts.worker where run = runs.seq order by attempt
    ) found
  ) as recorded from rota.runs left join rota.workers on workers.key = runs.worker where runs.id = $1`

const ATTEMPTS = `select attempts.*, workers.id as worker_id from rota.attempts
  left join rota.workers on workers.key = attempts.worker where run = $1 order by attempt`

/** The run of an id. */
export async function run(session: Session, id: RunId): Promise<Run | undefined> {
  const row = await session.db.get<RunRow>(RUN, id)
  return row === undefined ? undefined : runOf(row)
}

/** Runs whose id starts with a text, in order. */
export async function runsByPrefix(session: Session, prefix: string, limit: number): Promise<Run[]> {
  // No character of an id sorts behind this one.
  return (await session.db.all<RunRow>(BY_PREFIX, prefix, `${prefix}\u{10ffff}`, limit)).map(runOf)
}

/** The due instants of a trigger's own runs, oldest first. */
export async function runInstants(
  session: Session,
  request: Parameters<Reading['runInstants']>[0],
): Promise<{ dueAt: Instant; id: RunId; state: RunState }[]> {
  const { trigger, fromAt, untilAt, limit } = request
  type Row = { due_at: number; id: string; state: number }
  const rows = await session.db.all<Row>(INSTANTS, trigger, fromAt, untilAt, limit)
  return rows.map(({ due_at, id, state }) => ({ dueAt: due_at, id, state: stateName(state) }))
}

/** How many runs are in each state; the done ones are counted no further than a bound. */
export async function counts(session: Session): Promise<Record<RunState, number>> {
  const counted = await session.db.get<Record<RunState, number>>(COUNTS)
  if (counted === undefined) throw new Error('Counting gave no row')
  const { pending, running, done, failed, cancelled } = counted
  return { pending, running, done, failed, cancelled }
}

/** The attempts of a run, without gaps: those that were written down, and the one that lives in the run's own row. */
export async function attempts(session: Session, id: RunId): Promise<Attempt[]> {
  type Row = RunRow & { readonly recorded: readonly AttemptRow[] | null }
  const row = await session.db.get<Row>(RUN_WITH_ATTEMPTS, id)
  return row === undefined ? [] : attemptsIn(row, row.recorded ?? [])
}

/** The attempts of a run whose row is at hand. */
export async function attemptsOf(session: Session, row: RunRow): Promise<Attempt[]> {
  return attemptsIn(row, await session.db.all<AttemptRow>(ATTEMPTS, row.seq))
}
