import type { Job } from '../../kernel/job/job.js'
import type { Expiry, LostClaim } from '../port.js'
import { jobOf } from '../sql/catalog.js'
import { running } from '../sql/rows/states.js'
import { unsaidLeaseMs } from '../sql/rows/worker-rows.js'
import type { Session } from './session.js'

// Relies on: workers_live. From here on a turn of this worker claims nothing, so what it holds can only shrink.
const EXPIRE = `update rota.workers set phase = 1 where phase = 0 and lease_until < $1
  and coalesce(lease_until - beat_at, ${unsaidLeaseMs}) <= $2`

// Relies on: workers_gone, then runs_running: only workers that went since the last look, and only what they hold.
const LOST = `select runs.id, runs.due_at, runs.attempt, runs.failures, runs.crashes, runs.job, workers.id as worker
  from rota.workers join rota.runs on runs.worker = workers.key and runs.state = ${running}
  where workers.phase = 1
  order by runs.claimed_at, runs.id limit $1`

// Relies on: workers_gone, runs_running. Nothing is left of it, so nobody has to look at it again.
const SETTLE = `update rota.workers set phase = 2 where phase = 1
  and not exists (select 1 from rota.runs where state = ${running} and worker = workers.key)`

interface LostRow {
  readonly id: string
  readonly due_at: number
  readonly attempt: number
  readonly failures: number
  readonly crashes: number
  readonly job: string
  readonly worker: string
}

/** Expires silent workers and gives the claims of all that are gone, oldest first. */
export async function expire(
  session: Session,
  { deadline, limit, longestMs = Number.MAX_SAFE_INTEGER }: Expiry,
): Promise<LostClaim[]> {
  session.beExclusive()
  const { db } = session
  const [, rows] = await Promise.all([
    db.change(EXPIRE, deadline, longestMs),
    db.all<LostRow>(LOST, limit),
    db.change(SETTLE),
  ])
  if (rows.length === 0) return []
  const catalog = await session.catalogNow()
  return rows.map(({ id, due_at: dueAt, attempt, failures, crashes, worker, job }) => {
    const definition: Job = jobOf(catalog, job)
    return { run: id, dueAt, attempt, failures, crashes, worker, job: definition }
  })
}
