import type { Instant } from '../../time/instant.js'
import type { Database } from './database.js'
import type { Session } from './session.js'

/** The one row that speaks of the store itself. */
export interface MetaRow {
  readonly store: string
  readonly version: number
  readonly compatible_from: number
  readonly epoch: number
  readonly highest_at: number
  readonly jobs_revision: number
}

const READ = `select store, version, compatible_from, epoch, highest_at, jobs_revision from rota.meta where id = 1`

const CHANGE_JOBS = `update rota.meta set jobs_revision = jobs_revision + $1 where id = 1`

const CHANGE_LIMITS = `update rota.meta set limits_revision = limits_revision + 1 where id = 1`

// Relies on: primary key. So far back that those who have not noticed cannot make up for it by going on.
const GO_BACK = `update rota.meta set epoch = epoch - 1000000000 where id = 1`

const TAKE_COUNTERS = `update rota.meta set epoch = $1, jobs_revision = $2 where id = 1`

/** The numbers that belong to the store as a whole. */
export interface Counters {
  readonly highestAt: Instant
  readonly epoch: number
  readonly jobsRevision: number
}

/** The numbers as they stand. */
export async function countersOf(session: Session): Promise<Counters> {
  const meta = await readMeta(session)
  const highestAt = Math.max(session.remembered.highestAt, meta.highest_at)
  return { highestAt, epoch: meta.epoch, jobsRevision: meta.jobs_revision }
}

/** Goes on from the numbers of another store. */
export async function takeCounters(
  session: Session,
  { highestAt, epoch, jobsRevision }: Counters,
): Promise<void> {
  await session.db.change(TAKE_COUNTERS, epoch, jobsRevision)
  session.remembered.noteTime(highestAt)
  session.doubtCatalog()
}

/** Lets everybody who has seen the epoch notice that the store went back, also those who have lost nothing themselves. */
export async function markWentBack(db: Database): Promise<void> {
  await db.change(GO_BACK)
}

/** What the store says of itself. */
export async function readMeta(session: Session): Promise<MetaRow> {
  const row = await session.db.get<MetaRow>(READ)
  if (row === undefined) throw new Error('The store has lost the row that describes it')
  return row
}

/** The highest time that anyone wrote, or that was handed in here. */
export async function highestTime(session: Session): Promise<Instant> {
  return Math.max(session.remembered.highestAt, (await readMeta(session)).highest_at)
}

/** Lets every process read the jobs again. */
export async function markJobsChanged(session: Session, count: number): Promise<void> {
  if (count === 0) return
  await session.db.change(CHANGE_JOBS, count)
  session.hasNews = true
  session.doubtCatalog()
}

/** Lets every process read the holds and the limits of queues again. */
export async function markLimitsChanged(session: Session): Promise<void> {
  await session.db.change(CHANGE_LIMITS)
  session.hasNews = true
  session.doubtCatalog()
}
