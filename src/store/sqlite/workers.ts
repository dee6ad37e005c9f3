import type { Instant } from '../../time/instant.js'
import type { WorkerEntry, WorkerStatus } from '../store.js'
import { highestTime, raiseEpoch } from './meta.js'
import type { Session } from './session.js'
import { running } from './states.js'

// Relies on: the unique index of workers.id. A worker that was given up stays so: its runs may be with others.
const REGISTER = `insert into workers (id, host, pid, version, started_at, lease_until) values (?, ?, ?, ?, ?, ?)
  on conflict (id) do nothing`

// Relies on: the unique index of workers.id. The phase closes the race with the one who expires it.
const RENEW = `update workers set lease_until = ? where id = ? and phase = 0`

const RETIRE = `update workers set phase = 1 where id = ? and phase = 0`

// Relies on: workers_live, runs_running.
const WORKERS = `select id, host, pid, version, started_at, lease_until,
    (select count(*) from runs where state = ${running} and worker = workers.key) as running
  from workers where phase = 0 order by id`

/** Makes a worker known, with a lease that starts now. */
export function register(session: Session, worker: WorkerEntry): void {
  const { id, host, pid, version, now, leaseMs } = worker
  session.db.change(REGISTER, id, host, pid, version, now, now + leaseMs)
}

/** Renews a lease that nobody has declared over, from the highest time on: a clock that was put back shortens no lease. */
export function heartbeat(
  session: Session,
  request: { worker: string; now: Instant; leaseMs: number },
): 'alive' | 'expired' {
  session.noteTime(request.now)
  session.writeTime(0)
  raiseEpoch(session)
  const at = highestTime(session)
  const renewed = session.db.change(RENEW, at + request.leaseMs, request.worker)
  return renewed === 1 ? 'alive' : 'expired'
}

/** Gives up a worker; what it holds is given out as lost. */
export function retire(session: Session, request: { worker: string }): void {
  session.db.change(RETIRE, request.worker)
}

/** Workers that nobody has given up, by id. */
export function workers(session: Session): WorkerStatus[] {
  const rows = session.db.all<{
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
