import type { Instant } from '../../time/instant.js'
import type { Session } from './session.js'
import type { Verb } from './verb.js'

/** The row that describes the store itself. */
export interface MetaRow {
  readonly store: string
  readonly version: number
  readonly compatible_from: number
  readonly epoch: number
  readonly highest_at: number
  readonly jobs_revision: number
}

// Each relies on: primary key.
const READ = `select store, version, compatible_from, epoch, highest_at, jobs_revision from rota.meta where id = 1`

// Never lowers it: another process may have written a later one.
const RAISE_TIME = `update rota.meta set highest_at = $1 where id = 1 and highest_at < $1`

const CHANGE_JOBS = `update rota.meta set jobs_revision = jobs_revision + $1 where id = 1`

const CHANGE_LIMITS = `update rota.meta set limits_revision = limits_revision + 1 where id = 1`

const TAKE_COUNTERS = `update rota.meta set epoch = $1, jobs_revision = $2 where id = 1`

/** The numbers that belong to the store as a whole. */
export interface Counters {
  readonly highestAt: Instant
  readonly epoch: number
  readonly jobsRevision: number
}

/** The current numbers. */
export function* countersOf(session: Session): Verb<Counters> {
  const meta = yield* readMeta(session)
  const highestAt = Math.max(session.highestAt, meta.highest_at)
  return { highestAt, epoch: meta.epoch, jobsRevision: meta.jobs_revision }
}

/** Continues from the numbers of another store. */
export function* takeCounters(session: Session, { highestAt, epoch, jobsRevision }: Counters): Verb<void> {
  yield* session.sql.change(TAKE_COUNTERS, epoch, jobsRevision)
  session.noteTime(highestAt)
  session.doubtCatalog()
}

/** Reads the row that describes the store. */
export function* readMeta(session: Session): Verb<MetaRow> {
  const row = yield* session.sql.get<MetaRow>(READ)
  if (row === undefined) throw new Error('The store has no row in `meta`')
  return row
}

/** The highest time that any process wrote, or that was passed to this one. */
export function* highestTime(session: Session): Verb<Instant> {
  return Math.max(session.highestAt, (yield* readMeta(session)).highest_at)
}

/** Writes the highest time. */
export function* raiseTime(session: Session, at: Instant): Verb<void> {
  yield* session.sql.change(RAISE_TIME, at)
}

/** Makes every process read the jobs again. */
export function* markJobsChanged(session: Session, count: number): Verb<void> {
  if (count === 0) return
  yield* session.sql.change(CHANGE_JOBS, count)
  session.tell('anything')
  session.doubtCatalog()
}

/** Makes every process read the holds and the limits of queues again. */
export function* markLimitsChanged(session: Session): Verb<void> {
  yield* session.sql.change(CHANGE_LIMITS)
  session.tell('anything')
  session.doubtCatalog()
}
