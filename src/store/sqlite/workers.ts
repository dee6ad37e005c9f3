import type { Signs } from '../../kernel/run/fact.js'
import type { Instant } from '../../time/instant.js'
import type { Beat, WorkerEntry, WorkerStatus } from '../port.js'
import { running } from '../sql/rows/states.js'
import { signsOfRow, workerOf, type SignsRow, type WorkerRow } from '../sql/rows/worker-rows.js'
import { highestTime } from '../sql/meta.js'
import type { Session } from './session.js'

// Relies on: the unique index of workers.id. A worker that was given up stays so: its runs may be with others.
const REGISTER = `insert into workers (id, host, pid, version, roles, slots, started_at, beat_at, lease_until)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do nothing`

// Relies on: primary key. No two states of the store have it in common.
const RAISE_EPOCH = `update meta set epoch = epoch + 1 where id = 1`

// Relies on: the unique index of workers.id. The phase closes the race with the one who expires it.
const RENEW = `update workers set beat_at = ?, lease_until = ? where id = ? and phase = 0`

const IS_DRAINING = `select is_draining from workers where id = ?`

// Relies on: the unique index of workers.id.
const DRAIN = `update workers set is_draining = ? where id = ? and phase = 0 and is_draining <> ?`

const IS_LIVE = `select 1 from workers where id = ? and phase = 0`

const RETIRE = `update workers set phase = 1 where id = ? and phase = 0`

// Relies on: workers_live, runs_running.
const WORKERS = `select id, host, pid, version, roles, slots, started_at, beat_at, lease_until, is_draining,
    (select count(*) from runs where state = ${running} and worker = workers.key) as running
  from workers where phase = 0 order by id`

// Reads every worker there ever was, one row for each start of a process: only people ask, and seldom.
const SIGNS = `select max(case when beat <= ?1 then beat end) as last_beat_at,
    min(case when beat > ?1 then started_at end) as living_since
  from (select started_at, coalesce(beat_at, started_at) as beat from workers
    where started_at <= ?1 and instr(',' || roles || ',', ',' || ?2 || ',') > 0)`

/** Makes a worker known, with a lease that starts now. */
export function register(session: Session, worker: WorkerEntry): void {
  const { id, host, pid, version, roles = ['worker'], slots = null, now, leaseMs } = worker
  session.db.change(REGISTER, id, host, pid, version, roles.join(), slots, now, now, now + leaseMs)
}

/** Renews a lease that nobody has declared over, from the highest time on: a clock that was put back shortens no lease. */
export function heartbeat(
  session: Session,
  request: { worker: string; now: Instant; leaseMs: number },
): Beat {
  session.noteTime(request.now)
  session.writeTime(0)
  session.db.change(RAISE_EPOCH)
  const at = session.db.perform(highestTime(session))
  if (session.db.change(RENEW, at, at + request.leaseMs, request.worker) === 0) return 'expired'
  return session.db.value(IS_DRAINING, request.worker) === 1 ? 'draining' : 'alive'
}

/** Lets a worker take nothing more, or take work again. */
export function drain(
  session: Session,
  { worker, isDraining }: { worker: string; isDraining: boolean },
): 'changed' | 'already' | 'absent' {
  if (session.db.change(DRAIN, isDraining ? 1 : 0, worker, isDraining ? 1 : 0) === 1) return 'changed'
  return session.db.value(IS_LIVE, worker) === undefined ? 'absent' : 'already'
}

/** Gives up a worker; what it holds is given out as lost. */
export function retire(session: Session, request: { worker: string }): void {
  session.db.change(RETIRE, request.worker)
}

/** Workers that nobody has given up, by id. */
export function workers(session: Session): WorkerStatus[] {
  const rows = session.db.all<WorkerRow & { running: number }>(WORKERS)
  return rows.map((row) => ({ ...workerOf(row), running: row.running }))
}

/** What processes with one role left behind up to an instant. */
export function signsOf(session: Session, request: { role: string; until: Instant }): Signs {
  const [row] = session.db.all<SignsRow>(SIGNS, request.until, request.role)
  return signsOfRow(row)
}
