import type { Instant } from '../../time/instant.js'
import type { Session } from './session.js'

/** The one row that speaks of the store itself. */
export interface MetaRow {
  readonly store: string
  readonly version: number
  readonly compatible_from: number
  readonly epoch: number
  readonly highest_at: number
}

const RAISE_EPOCH = `update meta set epoch = epoch + 1 where id = 1`

const READ = `select store, version, compatible_from, epoch, highest_at from meta where id = 1`

const CHANGE_JOBS = `update meta set jobs_revision = jobs_revision + ? where id = 1`

const CHANGE_LIMITS = `update meta set limits_revision = limits_revision + 1 where id = 1`

/** Raises what no two states of the store have in common. */
export function raiseEpoch(session: Session): void {
  session.db.change(RAISE_EPOCH)
}

/** What the store says of itself. */
export function readMeta(session: Session): MetaRow {
  const row = session.db.get<MetaRow>(READ)
  if (row === undefined) throw new Error('The store has lost the row that describes it')
  return row
}

/** The highest time that anyone wrote, or that was handed in here. */
export function highestTime(session: Session): Instant {
  return Math.max(session.highestAt, readMeta(session).highest_at)
}

/** Lets every process read the jobs again. */
export function markJobsChanged(session: Session, count: number): void {
  if (count === 0) return
  session.db.change(CHANGE_JOBS, count)
  session.doubtCatalog()
}

/** Lets every process read the holds and the limits of queues again. */
export function markLimitsChanged(session: Session): void {
  session.db.change(CHANGE_LIMITS)
  session.doubtCatalog()
}
