import type { Expiry, LostClaim } from '../../port.js'
import { jobOf } from '../catalog.js'
import type { Session } from '../session.js'
import { each } from '../statement.js'
import { running } from '../rows/states.js'
import type { Verb } from '../verb.js'
import { unsaidLeaseMs } from '../rows/worker-rows.js'

// Relies on: workers_live, workers_gone. Needs no lock: a lease that ends after this is found by the next look.
const HAS_GONE = `select 1 where exists (select 1 from rota.workers where phase = 1) or exists (
    select 1 from rota.workers where phase = 0 and lease_until < $1 and coalesce(lease_until - beat_at, ${unsaidLeaseMs}) <= $2
  )`

// Relies on: workers_live. From now on a turn of this worker claims nothing, so its runs can only become fewer.
const EXPIRE = `update rota.workers set phase = 1 where phase = 0 and lease_until < $1
  and coalesce(lease_until - beat_at, ${unsaidLeaseMs}) <= $2`

// Relies on: workers_gone, then runs_running: only workers that are newly gone, and only their runs.
const LOST = each({
  sqlite: lostFrom('workers cross join runs'),
  postgres: lostFrom('rota.workers join rota.runs'),
})

// Relies on: workers_gone, runs_running. A worker without runs need not be examined again.
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

/** Expires workers whose lease has ended and returns the claims of all gone workers, oldest first. */
export function* expire(
  session: Session,
  { deadline, limit, longestMs = Number.MAX_SAFE_INTEGER }: Expiry,
): Verb<LostClaim[]> {
  if (!session.isExclusive && (yield* session.sql.value(HAS_GONE, deadline, longestMs)) === undefined)
    return []
  session.beExclusive()
  const [, rows] = yield* session.sql.together(
    session.sql.change(EXPIRE, deadline, longestMs),
    session.sql.all<LostRow>(LOST, limit),
    session.sql.change(SETTLE),
  )
  if (rows.length === 0) return []
  const catalog = yield* session.catalog()
  return rows.map(({ id, due_at: dueAt, attempt, failures, crashes, worker, job }) => {
    return { run: id, dueAt, attempt, failures, crashes, worker, job: jobOf(catalog, job) }
  })
}

function lostFrom(tables: string): string {
  return `select runs.id, runs.due_at, runs.attempt, runs.failures, runs.crashes, runs.job, workers.id as worker
    from ${tables} on runs.worker = workers.key and runs.state = ${running}
    where workers.phase = 1 order by runs.claimed_at, runs.id limit $1`
}
