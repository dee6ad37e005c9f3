import type { Signs } from '../../kernel/run/fact.js'
import type { Instant } from '../../time/instant.js'
import type { Beat, WorkerEntry, WorkerStatus } from '../port.js'
import { running } from '../sql/rows/states.js'
import { signsOfRow, workerOf, type SignsRow, type WorkerRow } from '../sql/rows/worker-rows.js'
import type { Session } from './session.js'

// Relies on: the unique index of workers.id. A worker that was given up stays so: its runs may be with others.
const REGISTER = `insert into rota.workers (id, host, pid, version, roles, slots, started_at, beat_at, lease_until)
  values ($1, $2, $3, $4, $5, $6, $7, $7, $8) on conflict (id) do nothing`

// Relies on: the unique index of workers.id. The phase closes the race with the one who expires it: whoever comes
// second waits for the row and then sees what the first one made of it. One statement, so nothing is held while its
// answer is under way.
const RENEW = `with raised as (
    update rota.meta set epoch = epoch + 1, highest_at = greatest(highest_at, $1::int8) where id = 1 returning highest_at
  )
  update rota.workers set beat_at = raised.highest_at, lease_until = raised.highest_at + $2::int8 from raised
  where id = $3 and phase = 0 returning is_draining`

// Relies on: the unique index of workers.id.
const DRAIN = `update rota.workers set is_draining = $1 where id = $2 and phase = 0 and is_draining <> $1`

const IS_LIVE = `select 1 from rota.workers where id = $1 and phase = 0`

const RETIRE = `update rota.workers set phase = 1 where id = $1 and phase = 0`

// Relies on: workers_live, runs_running.
const WORKERS = `select id, host, pid, version, roles, slots, started_at, beat_at, lease_until, is_draining,
    (select count(*) from rota.runs where state = ${running} and worker = workers.key) as running
  from rota.workers where phase = 0 order by id`

// Reads every worker there ever was, one row for each start of a process: only people ask, and seldom.
const SIGNS = `select max(beat) filter (where beat <= $1::int8) as last_beat_at,
    min(started_at) filter (where beat > $1::int8) as living_since
  from (select started_at, coalesce(beat_at, started_at) as beat from rota.workers
    where started_at <= $1::int8 and $2::text = any (string_to_array(roles, ','))) as processes`

/** Makes a worker known, with a lease that starts now. */
export async function register(session: Session, worker: WorkerEntry): Promise<void> {
  const { id, host, pid, version, roles = ['worker'], slots = null, now, leaseMs } = worker
  await session.db.change(REGISTER, id, host, pid, version, roles.join(), slots, now, now + leaseMs)
}

/** Renews a lease that nobody has declared over, from the highest time on. */
export async function heartbeat(
  session: Session,
  request: { worker: string; now: Instant; leaseMs: number },
): Promise<Beat> {
  const { remembered } = session
  remembered.noteTime(request.now)
  const at = remembered.highestAt
  const isDraining = await session.db.value(RENEW, at, request.leaseMs, request.worker)
  remembered.timeWritten(at)
  if (isDraining === undefined) return 'expired'
  return isDraining === 1 ? 'draining' : 'alive'
}

/** How long a renewal may take: it waits for nobody, and a lease must not run out over a silent connection. */
export function beatLimitMs({ leaseMs }: { leaseMs: number }): number {
  return Math.max(shortestBeatMs, leaseMs / 6)
}

const shortestBeatMs = 1000

/** Lets a worker take nothing more, or take work again. */
export async function drain(
  session: Session,
  { worker, isDraining }: { worker: string; isDraining: boolean },
): Promise<'changed' | 'already' | 'absent'> {
  if ((await session.db.change(DRAIN, isDraining ? 1 : 0, worker)) === 1) {
    session.hasNews = true
    return 'changed'
  }
  return (await session.db.value(IS_LIVE, worker)) === undefined ? 'absent' : 'already'
}

/** Gives up a worker; what it holds is given out as lost. */
export async function retire(session: Session, request: { worker: string }): Promise<void> {
  session.beExclusive()
  await session.db.change(RETIRE, request.worker)
}

/** Workers that nobody has given up, by id. */
export async function workers(session: Session): Promise<WorkerStatus[]> {
  const rows = await session.db.all<WorkerRow & { running: number }>(WORKERS)
  return rows.map((row) => ({ ...workerOf(row), running: row.running }))
}

/** What processes with one role left behind up to an instant. */
export async function signsOf(session: Session, request: { role: string; until: Instant }): Promise<Signs> {
  const [row] = await session.db.all<SignsRow>(SIGNS, request.until, request.role)
  return signsOfRow(row)
}
