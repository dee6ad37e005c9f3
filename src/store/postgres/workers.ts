import type { Instant } from '../../time/instant.js'
import type { WorkerEntry, WorkerStatus } from '../store.js'
import type { Session } from './session.js'
import { running } from './states.js'

// Relies on: the unique index of workers.id. A worker that was given up stays so: its runs may be with others.
const REGISTER = `insert into rota.workers (id, host, pid, version, started_at, lease_until)
  values ($1, $2, $3, $4, $5, $6) on conflict (id) do nothing`

// Relies on: the unique index of workers.id. The phase closes the race with the one who expires it: whoever comes
// second waits for the row and then sees what the first one made of it. One statement, so nothing is held while its
// answer is under way.
const RENEW = `with raised as (
    update rota.meta set epoch = epoch + 1, highest_at = greatest(highest_at, $1::int8) where id = 1 returning highest_at
  )
  update rota.workers set lease_until = raised.highest_at + $2::int8 from raised where id = $3 and phase = 0`

const RETIRE = `update rota.workers set phase = 1 where id = $1 and phase = 0`

// Relies on: workers_live, runs_running.
const WORKERS = `select id, host, pid, version, started_at, lease_until,
    (select count(*) from rota.runs where state = ${running} and worker = workers.key) as running
  from rota.workers where phase = 0 order by id`

/** Makes a worker known, with a lease that starts now. */
export async function register(session: Session, worker: WorkerEntry): Promise<void> {
  const { id, host, pid, version, now, leaseMs } = worker
  await session.db.change(REGISTER, id, host, pid, version, now, now + leaseMs)
}

/** Renews a lease that nobody has declared over, from the highest time on. */
export async function heartbeat(
  session: Session,
  request: { worker: string; now: Instant; leaseMs: number },
): Promise<'alive' | 'expired'> {
  const { remembered } = session
  remembered.noteTime(request.now)
  const at = remembered.highestAt
  const renewed = await session.db.change(RENEW, at, request.leaseMs, request.worker)
  remembered.timeWritten(at)
  return renewed === 1 ? 'alive' : 'expired'
}

/** Gives up a worker; what it holds is given out as lost. */
export async function retire(session: Session, request: { worker: string }): Promise<void> {
  session.beAlone()
  await session.db.change(RETIRE, request.worker)
}

/** Workers that nobody has given up, by id. */
export async function workers(session: Session): Promise<WorkerStatus[]> {
  const rows = await session.db.all<{
    id: string
    host: string
    pid: number
    version: string
    started_at: number
    lease_until: number
    running: number
  }>(WORKERS)
  return rows.map(({ id, host, pid, version, started_at, lease_until, running }) => {
    return { id, host, pid, version, startedAt: started_at, leaseUntil: lease_until, running }
  })
}
