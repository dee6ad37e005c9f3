import type { Job } from '../../kernel/job/job.js'
import type { Expiry, LostClaim } from '../port.js'
import { jobOf } from '../sql/catalog.js'
import { running } from '../sql/rows/states.js'
import { unsaidLeaseMs } from '../sql/rows/worker-rows.js'
import type { Session } from './session.js'

// Relies on: workers_live. From here on a turn of this worker claims nothing, so what it holds can only shrink.
const EXPIRE = `update workers set phase = 1 where phase = 0 and lease_until < ?
  and coalesce(lease_until - beat_at, ${unsaidLeaseMs}) <= ?`

// Relies on: workers_gone, then runs_running: only workers that went since the last look, and only what they hold.
const LOST = `select runs.id, runs.due_at as dueAt, runs.attempt, runs.failures, runs.crashes, runs.job, workers.id as worker
  from workers cross join runs on runs.worker = workers.key and runs.state = ${running}
  where workers.phase = 1
  order by runs.claimed_at, runs.id limit ?`

// Relies on: workers_gone, runs_running. Nothing is left of it, so nobody has to look at it again.
const SETTLE = `update workers set phase = 2 where phase = 1
  and not exists (select 1 from runs where state = ${running} and worker = workers.key)`

/** Expires silent workers and gives the claims of all that are gone, oldest first. */
export function expire(
  session: Session,
  { deadline, limit, longestMs = Number.MAX_SAFE_INTEGER }: Expiry,
): LostClaim[] {
  const { db } = session
  db.change(EXPIRE, deadline, longestMs)
  const rows = db.all<Omit<LostClaim, 'run' | 'job'> & { id: string; job: string }>(LOST, limit)
  db.change(SETTLE)
  if (rows.length === 0) return []
  const { catalogNow: catalog } = session
  return rows.map(({ id, dueAt, attempt, failures, crashes, worker, job }) => {
    const definition: Job = jobOf(catalog, job)
    return { run: id, dueAt, attempt, failures, crashes, worker, job: definition }
  })
}
