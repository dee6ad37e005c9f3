import type { RunId } from '../../../kernel/identity/identity.js'
import type { Attempt, AttemptEnd, Run, RunState } from '../../../kernel/run/run.js'
import type { Instant } from '../../../time/instant.js'
import type { Reading } from '../../port.js'
import { errorOf, orUndefined, originCode, runOf, type RunRow } from '../rows/run-rows.js'
import { blocked, cancelled, delayed, done, failed, ready, running, stateName } from '../rows/states.js'
import { each } from '../statement.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

/** Done runs are counted up to this number. */
const countBound = 100_000

/** Runs with the ids of their workers. */
export const FROM_RUNS = `select runs.*, workers.id as worker_id from rota.runs left join rota.workers on workers.key = runs.worker`

// Relies on: the unique index of runs.id.
const RUN = `${FROM_RUNS} where runs.id = $1`

// The same, once for each id.
const BY_ID = `${FROM_RUNS} where runs.id = any($1::text[])`

const BY_PREFIX = `${FROM_RUNS} where runs.id >= $1 and runs.id < $2 order by runs.id limit $3`

// Relies on: runs_trigger.
const INSTANTS = `select due_at, id, state from rota.runs
  where trigger = $1 and due_at >= $2 and due_at <= $3 and origin = ${originCode('trigger')}
  order by due_at, id limit $4`

/** SQLite uses the index runs_unhappy only if a statement has exactly the condition of the index. */
export const UNHAPPY = `state in (${failed}, ${cancelled})`

// Relies on: the partial index of each state.
const UNFINISHED_AND_UNHAPPY = `
  (select count(*) from rota.runs where state = ${ready}) + (select count(*) from rota.runs where state = ${delayed})
    + (select count(*) from rota.runs where state = ${blocked}) as pending,
  (select count(*) from rota.runs where state = ${running}) as running,
  (select count(*) from rota.runs where ${UNHAPPY} and state = ${failed}) as failed,
  (select count(*) from rota.runs where ${UNHAPPY} and state = ${cancelled}) as cancelled`

// SQLite would have to read every row to count the done runs, so they are the total minus the others. Both count up to
// the bound.
const COUNTS = each({
  sqlite: `with counted as materialized (select ${UNFINISHED_AND_UNHAPPY}),
    others as materialized (select pending + running + failed + cancelled as runs from counted)
    select counted.*, (
      select count(*) from (
        select 1 from runs indexed by sqlite_autoindex_runs_1 limit (select runs + ${countBound} from others)
      )
    ) - (select runs from others) as done from counted`,
  postgres: `select ${UNFINISHED_AND_UNHAPPY}, (
      select count(*) from (
        select 1 from rota.runs where state >= ${done} and state = ${done} limit ${countBound}
      ) ended
    ) as done`,
})

// Relies on: primary key.
const ATTEMPTS_OF = `select attempts.*, workers.id as worker_id from rota.attempts
  left join rota.workers on workers.key = attempts.worker where run =`

const ATTEMPTS = `${ATTEMPTS_OF} $1 order by attempt`

// Relies on: primary key. One statement reads the run and its attempts, so that no attempt appears twice.
const RUN_WITH_ATTEMPTS = `select runs.*, workers.id as worker_id, (
    select json_agg(json_build_object('attempt', attempt, 'worker_id', worker_id, 'claimed_at', claimed_at,
      'started_at', started_at, 'ended_at', ended_at, 'ended', ended, 'error', error))::text
    from (${ATTEMPTS_OF} runs.seq order by attempt) recorded
  ) as recorded from rota.runs left join rota.workers on workers.key = runs.worker where runs.id = $1`

/** The run of an id. */
export function* run(session: Session, id: RunId): Verb<Run | undefined> {
  const row = yield* session.sql.get<RunRow>(RUN, id)
  return row === undefined ? undefined : runOf(row)
}

/** The runs of some ids. */
export function* runsById(session: Session, ids: readonly RunId[]): Verb<Run[]> {
  return ids.length === 0 ? [] : (yield* session.sql.all<RunRow>(BY_ID, ids)).map(runOf)
}

/** Runs whose id starts with a text, in order. */
export function* runsByPrefix(session: Session, prefix: string, limit: number): Verb<Run[]> {
  // No character of an id sorts after this one.
  return (yield* session.sql.all<RunRow>(BY_PREFIX, prefix, `${prefix}\u{10ffff}`, limit)).map(runOf)
}

/** The due instants of a trigger's own runs, oldest first. */
export function* runInstants(
  session: Session,
  request: Parameters<Reading['runInstants']>[0],
): Verb<{ dueAt: Instant; id: RunId; state: RunState }[]> {
  const { trigger, fromAt, untilAt, limit } = request
  type Row = { due_at: number; id: string; state: number }
  const rows = yield* session.sql.all<Row>(INSTANTS, trigger, fromAt, untilAt, limit)
  return rows.map(({ due_at, id, state }) => ({ dueAt: due_at, id, state: stateName(state) }))
}

/** How many runs are in each state; done ones are counted up to a bound. */
export function* counts(session: Session): Verb<Record<RunState, number>> {
  const counted = yield* session.sql.get<Record<RunState, number>>(COUNTS)
  if (counted === undefined) throw new Error('Counting gave no row')
  const { pending, running, done, failed, cancelled } = counted
  return { pending, running, done, failed, cancelled }
}

/** The attempts of a run, without gaps: the recorded ones, and the one in the run's own row. */
export function* attempts(session: Session, id: RunId): Verb<Attempt[]> {
  const row = yield* session.sql.get<RunRow & { readonly recorded: string | null }>(RUN_WITH_ATTEMPTS, id)
  if (row === undefined) return []
  return attemptsIn(row, JSON.parse(row.recorded ?? '[]') as AttemptRow[])
}

/** The attempts of a run whose row was already read. */
export function* attemptsOf(session: Session, row: RunRow): Verb<Attempt[]> {
  // Nearly every run has one attempt, which is stored in its row.
  const isFirst = row.attempt === 0 || (row.attempt === 1 && (row.state === running || row.state === done))
  return attemptsIn(row, isFirst ? [] : yield* session.sql.all<AttemptRow>(ATTEMPTS, row.seq))
}

/** An attempt's row, with the id of its worker. */
interface AttemptRow {
  readonly attempt: number
  readonly worker_id: string | null
  readonly claimed_at: number
  readonly started_at: number | null
  readonly ended_at: number | null
  readonly ended: AttemptEnd | undefined
  readonly error: string | null
}

function attemptsIn(run: RunRow, recorded: readonly AttemptRow[]): Attempt[] {
  const isInRow = run.state === running || (run.state === done && recorded.length < run.attempt)
  return (isInRow ? [...recorded, attemptInRow(run)] : recorded).map((row) => ({
    run: run.id,
    attempt: row.attempt,
    worker: orUndefined(row.worker_id),
    claimedAt: row.claimed_at,
    startedAt: orUndefined(row.started_at),
    endedAt: orUndefined(row.ended_at),
    end: row.ended,
    error: errorOf(row.error),
  }))
}

function attemptInRow(run: RunRow): AttemptRow {
  const { attempt, worker_id, started_at, finished_at: ended_at } = run
  const ended = run.state === done ? 'done' : undefined
  return {
    attempt,
    worker_id,
    claimed_at: run.claimed_at ?? run.created_at,
    started_at,
    ended_at,
    ended,
    error: null,
  }
}
