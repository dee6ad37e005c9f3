import type { HolderNotice } from '../../kernel/run/fact.js'
import type { Turn, TurnAnswer } from '../port.js'
import { claimRuns } from './claim.js'
import { finishAll } from './finish.js'
import { nextRunAt, promote } from './promote.js'
import type { Session } from './session.js'

// Relies on: the unique index of workers.id. Read under the write lock: a worker that is live here was not expired by anyone.
const WORKER = `select key, phase, lease_until, is_draining from workers where id = ?`

// Relies on: notices_worker.
const NOTICES = `select run, attempt, kind from notices where worker = ? order by id`

const FORGET_NOTICES = `delete from notices where worker = ?`

interface WorkerRow {
  readonly key: number
  readonly phase: number
  readonly lease_until: number
  readonly is_draining: number
}

/** One worker's turn: store what it finished, promote what became due, claim what it wants. */
export function turn(session: Session, request: Turn): TurnAnswer {
  const { now, claimRequest } = request
  session.noteTime(now)
  const finished = finishAll(session, request.finished, now)
  promote(session, now)
  const known = { finished, jobsRevision: session.catalogNow.jobsRevision, nextRunAt: nextRunAt(session) }
  const worker = session.db.get<WorkerRow>(WORKER, request.worker)
  if (worker === undefined) return { ...nothing, ...known }
  const notices = takeNotices(session, worker.key)
  if (worker.phase !== 0) return { ...nothing, ...known, notices }
  // Whoever is late with its heartbeat may be expired at any moment: what it took now would be taken from it at once.
  const mayClaim = claimRequest !== undefined && worker.lease_until >= now && worker.is_draining === 0
  const claimed = mayClaim ? claimRuns(session, { claimRequest, worker: worker.key, now }) : undefined
  return { expired: false, ...known, claims: claimed?.claims ?? [], more: claimed?.more ?? false, notices }
}

const nothing = { expired: true, claims: [], more: false, notices: [] } as const

function takeNotices(session: Session, worker: number): HolderNotice[] {
  const notices = session.db.all<HolderNotice>(NOTICES, worker)
  if (notices.length === 0) return []
  session.db.change(FORGET_NOTICES, worker)
  return notices.map(({ run, attempt, kind }) => ({ run, attempt, kind }))
}
