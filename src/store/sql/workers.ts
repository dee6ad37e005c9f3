import type { Signs } from '../../kernel/run/fact.js'
import type { Instant } from '../../time/instant.js'
import type { WorkerEntry, WorkerStatus } from '../port.js'
import type { Session } from './session.js'
import { running } from './rows/states.js'
import type { Verb } from './verb.js'
import { signsOfRow, workerOf, type SignsRow, type WorkerRow } from './rows/worker-rows.js'

// Relies on: the unique index of workers.id. A gone worker stays gone: its runs may belong to others. For a known
// worker only its slots change.
const REGISTER = `insert into rota.workers (id, host, pid, version, roles, slots, started_at, beat_at, lease_until, is_draining)
  values ($1, $2, $3, $4, $5, $6, $7, $7, $8,
    coalesce((select is_draining from rota.workers as replaced where replaced.id = $9), 0)) on conflict (id) do update set slots = excluded.slots`

// Relies on: the unique index of workers.id.
const DRAIN = `update rota.workers set is_draining = $1 where id = $2 and phase = 0 and is_draining <> $1`

const IS_LIVE = `select 1 from rota.workers where id = $1 and phase = 0`

const RETIRE = `update rota.workers set phase = 1 where id = $1 and phase = 0`

// Relies on: workers_live, runs_running.
const WORKERS = `select id, host, pid, version, roles, slots, started_at, beat_at, lease_until, is_draining,
    (select count(*) from rota.runs where state = ${running} and worker = workers.key) as running
  from rota.workers where phase = 0 order by id`

// Reads every worker that ever existed, one row for each start of a process: called rarely, only for people.
const SIGNS = `select max(beat) filter (where beat <= $1::int8) as last_beat_at,
    min(started_at) filter (where beat > $1::int8) as living_since
  from (select started_at, coalesce(beat_at, started_at) as beat from rota.workers
    where started_at <= $1::int8 and ',' || roles || ',' like '%,' || $2::text || ',%') as processes`

/** Registers a worker, with a lease that starts now. */
export function* register(session: Session, worker: WorkerEntry): Verb<void> {
  const { id, host, pid, version, roles = ['worker'], slots = null, replaces = null, now, leaseMs } = worker
  const entry = [id, host, pid, version, roles.join(), slots, now, now + leaseMs, replaces] as const
  yield* session.sql.change(REGISTER, ...entry)
}

/** Stops a worker from claiming, or lets it claim again. */
export function* drain(
  session: Session,
  { worker, isDraining }: { worker: string; isDraining: boolean },
): Verb<'changed' | 'already' | 'absent'> {
  if ((yield* session.sql.change(DRAIN, isDraining ? 1 : 0, worker)) === 1) {
    session.tell('anything')
    return 'changed'
  }
  return (yield* session.sql.value(IS_LIVE, worker)) === undefined ? 'absent' : 'already'
}

/** Removes a worker from the live ones; `expire` returns the runs that it still holds. */
export function* retire(session: Session, request: { worker: string }): Verb<void> {
  session.beExclusive()
  yield* session.sql.change(RETIRE, request.worker)
}

/** The live workers, by id. */
export function* workers(session: Session): Verb<WorkerStatus[]> {
  const rows = yield* session.sql.all<WorkerRow & { running: number }>(WORKERS)
  return rows.map((row) => ({ ...workerOf(row), running: row.running }))
}

/** When processes with a role were last seen, up to an instant. */
export function* signsOf(session: Session, request: { role: string; until: Instant }): Verb<Signs> {
  return signsOfRow(yield* session.sql.get<SignsRow>(SIGNS, request.until, request.role))
}
