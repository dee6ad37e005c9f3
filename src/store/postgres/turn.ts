import type { HolderNotice } from '../../kernel/run/fact.js'
import type { Turn, TurnAnswer } from '../port.js'
import { limitedQueueOf } from '../sql/catalog.js'
import { claimRuns } from './claim.js'
import { finishAll, isPlainEnd } from './finish.js'
import { nextRunAt, promote } from './promote.js'
import type { ProcessCache } from './process-cache.js'
import type { Session } from './session.js'

// Relies on: the unique index of workers.id. Whoever expires a worker is alone, so one that is live here stays so.
const WORKER = `select key, phase, lease_until, is_draining from rota.workers where id = $1`

// Relies on: the unique index of workers.id, then notices_worker.
const TAKE_NOTICES = `with told as (
    delete from rota.notices where worker = (select key from rota.workers where id = $1) returning id, run, attempt, kind
  )
  select run, attempt, kind from told where id > $2 order by id`

// Relies on: the unique index of workers.id, then notices_worker.
const FORGET_NOTICES = `delete from rota.notices
  where worker = (select key from rota.workers where id = $1) and id <= $2`

/** Writes down what may otherwise wait: the highest time, and that notices were heard, which the next turn would say. */
export async function settle(session: Session): Promise<void> {
  const { db, remembered } = session
  await session.writeTime(0)
  for (const [worker, notice] of remembered.allHeard) await db.change(FORGET_NOTICES, worker, notice)
}

/** Whether a turn touches nothing but rows of its own, as far as this process remembers: others may write meanwhile. */
export function mayTurnTogether(remembered: ProcessCache, { finished, claimRequest }: Turn): boolean {
  const { catalog } = remembered
  if (catalog === undefined) return false
  const isFree = (job: string): boolean => limitedQueueOf(catalog, job) === undefined
  if (claimRequest !== undefined && catalog.queueLimits.size > 0 && !claimRequest.jobs.every(isFree))
    return false
  return finished.every((item) => {
    const claim = remembered.claimOf(item.run)
    return claim?.isPlain === true && isFree(claim.job)
  })
}

interface WorkerRow {
  readonly key: number
  readonly phase: number
  readonly lease_until: number
  readonly is_draining: number
}

/** One worker's turn: store what it finished, promote what became due, claim what it wants. */
export async function turn(session: Session, request: Turn): Promise<TurnAnswer> {
  const { now, claimRequest } = request
  const { db } = session
  session.remembered.noteTime(now)
  const isPipelined = !session.isExclusive && request.finished.every(isPlainEnd)
  const finishing = finishAll(session, request.finished, now)
  // Of plain ends each is one statement: the next ones need not wait for its answer.
  const finished = isPipelined ? [] : await finishing
  const [ended, , worker, notices] = await Promise.all([
    finishing,
    promote(session, now),
    db.get<WorkerRow>(WORKER, request.worker),
    db.changed<HolderNotice>(TAKE_NOTICES, request.worker, session.remembered.heardOf(request.worker)),
  ])
  const answer = {
    finished: isPipelined ? ended : finished,
    jobsRevision: (await session.catalogNow()).jobsRevision,
    nextRunAt: await nextRunAt(session),
  }
  if (worker === undefined) return { ...nothing, ...answer }
  if (worker.phase !== 0) return { ...nothing, ...answer, notices }
  // Whoever is late with its heartbeat may be expired at any moment: what it took now would be taken from it at once.
  const mayClaim = claimRequest !== undefined && worker.lease_until >= now && worker.is_draining === 0
  const claimed = mayClaim ? await claimRuns(session, { claimRequest, worker: worker.key, now }) : undefined
  return { expired: false, ...answer, claims: claimed?.claims ?? [], more: claimed?.more ?? false, notices }
}

const nothing = { expired: true, claims: [], more: false, notices: [] } as const
