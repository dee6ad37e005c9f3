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

const TAKE_COUNTERS = `update meta set epoch = ?, jobs_revision = ? where id = 1`

const JOBS_REVISION = `select jobs_revision from meta where id = 1`

/** The numbers that belong to the store as a whole. */
export interface Counters {
  readonly highestAt: Instant
  readonly epoch: number
  readonly jobsRevision: number
}

/** The numbers as they stand. */
export function countersOf(session: Session): Counters {
  const jobsRevision = session.db.value(JOBS_REVISION) as number
  return { highestAt: highestTime(session), epoch: readMeta(session).epoch, jobsRevision }
}

/** Goes on from the numbers of another store. */
export function takeCounters(session: Session, { highestAt, epoch, jobsRevision }: Counters): void {
  session.db.change(TAKE_COUNTERS, epoch, jobsRevision)
  session.noteTime(highestAt)
  session.doubtCatalog()
}

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
