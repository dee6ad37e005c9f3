import type { Instant } from '../../../time/instant.js'
import type { Turn, TurnAnswer } from '../../port.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'
import { claimRuns, earlier } from './claim.js'
import { letIn } from './concurrency-slots.js'
import { finishAll } from './finish.js'
import { promote } from './promote.js'

// Relies on: the unique index of workers.id, then notices_worker. A transaction that expires a worker is exclusive, so
// a worker that is live here stays live until the end of the transaction.
const WORKER = `select key, phase, lease_until, is_draining,
    (select 1 from rota.notices where worker = workers.key limit 1) as has_notices
  from rota.workers where id = $1`

interface WorkerRow {
  readonly key: number
  readonly phase: number
  readonly lease_until: number
  readonly is_draining: number
  readonly has_notices: number | null
}

/** One turn of a worker: stores its results, makes due runs ready, and claims what it requests. */
export function* turn(session: Session, request: Turn): Verb<TurnAnswer> {
  const { now, claimRequest } = request
  session.noteTime(now)
  const { answers: finished, admitted } = yield* finishAll(session, request.finished, now)
  const [nextRunAt, worker] = yield* look(session, request)
  const { jobsRevision } = yield* session.catalog()
  const answer = { finished, jobsRevision, nextRunAt }
  // A worker with an overdue heartbeat may be expired at any moment, and would lose what it claims now.
  const isLive = worker?.phase === 0 && worker.lease_until >= now && worker.is_draining === 0
  if (claimRequest === undefined || !isLive) yield* letIn(session, admitted)
  if (worker === undefined) return { ...nothing, ...answer }
  const notices = worker.has_notices === null ? [] : yield* session.native.takeNotices(request.worker)
  if (worker.phase !== 0) return { ...nothing, ...answer, notices }
  const claimed =
    claimRequest !== undefined && isLive
      ? yield* claimRuns(session, { claimRequest, worker: worker.key, now, admitted })
      : undefined
  const { claims = [], more = false, nextStartAt } = claimed ?? {}
  return { expired: false, ...answer, nextRunAt: earlier(nextRunAt, nextStartAt), claims, more, notices }
}

function* look(session: Session, { worker, now }: Turn): Verb<[Instant | undefined, WorkerRow | undefined]> {
  return yield* session.sql.together(promote(session, now), session.sql.get<WorkerRow>(WORKER, worker))
}

const nothing = { expired: true, claims: [], more: false, notices: [] } as const
