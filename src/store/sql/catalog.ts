import { claimingTargets, holdsAt, type Hold, type HoldTarget } from '../../kernel/hold/hold.js'
import { jobDefaults, type Job } from '../../kernel/job/job.js'
import type { RateLimit } from '../../kernel/job/rate-limit.js'
import type { Instant } from '../../time/instant.js'
import type { StoredJob } from '../port.js'
import { holdOf, type HoldRow } from './rows/run-rows.js'
import { answered, type Sql, type Verb } from './verb.js'

/** What every claim needs of the definitions: read once and kept until a revision says that it changed. */
export interface Catalog {
  readonly jobsRevision: number
  readonly limitsRevision: number
  readonly jobs: ReadonlyMap<string, Job>
  /** The jobs with their sources, in the order of their names. */
  readonly storedJobs: readonly StoredJob[]
  /** The jobs that have a rate limit. */
  readonly ratedJobs: ReadonlyMap<string, RateLimit>
  /** The queues that have a limit. */
  readonly queueLimits: ReadonlyMap<string, number>
  /** The holds that keep runs from being claimed, past and open. */
  readonly holds: readonly Hold[]
}

/** What rises with every change of the definitions. */
export interface Revisions {
  readonly jobs_revision: number
  readonly limits_revision: number
}

// Relies on: primary key. Read in the transaction that uses the catalog, so no definition can change in between.
const REVISIONS = `select jobs_revision, limits_revision from rota.meta where id = 1`

const JOBS = `select source, definition from rota.jobs order by name`

const LIMITS = `select name, concurrency from rota.queues where concurrency is not null`

// Relies on: holds_target.
const HOLDS = `select * from rota.holds
  where target = any($1::text[]) or (target >= 'queue:' and target < 'queue;') order by id`

/** The revisions as they are now. */
export function* readRevisions(sql: Sql): Verb<Revisions> {
  const revisions = yield* sql.get<Revisions>(REVISIONS)
  if (revisions === undefined) throw new Error('The store has lost the row that describes it')
  return revisions
}

/** The catalog of some revisions: the known one, as far as nothing changed since. */
export function catalogOf(sql: Sql, known: Catalog | undefined, revisions: Revisions): Verb<Catalog> {
  const { jobs_revision: jobsRevision, limits_revision: limitsRevision } = revisions
  const jobs = known?.jobsRevision === jobsRevision ? known : undefined
  const limits = known?.limitsRevision === limitsRevision ? known : undefined
  if (jobs !== undefined && jobs === limits) return answered(jobs)
  return loadCatalog(sql, { jobsRevision, limitsRevision, jobs, limits })
}

function* loadCatalog(
  sql: Sql,
  known: {
    jobsRevision: number
    limitsRevision: number
    jobs?: Catalog | undefined
    limits?: Catalog | undefined
  },
): Verb<Catalog> {
  const { jobsRevision, limitsRevision, jobs, limits } = known
  const storedJobs = jobs?.storedJobs ?? (yield* readJobs(sql))
  return {
    jobsRevision,
    limitsRevision,
    jobs: jobs?.jobs ?? new Map(storedJobs.map(({ job }) => [job.name, job])),
    storedJobs,
    ratedJobs: jobs?.ratedJobs ?? ratesOf(storedJobs),
    queueLimits: limits?.queueLimits ?? (yield* readLimits(sql)),
    holds: limits?.holds ?? (yield* sql.all<HoldRow>(HOLDS, claimingTargets)).map(holdOf),
  }
}

function ratesOf(storedJobs: readonly StoredJob[]): Map<string, RateLimit> {
  return new Map(
    storedJobs.flatMap(({ job: { name, limit } }) => (limit === undefined ? [] : [[name, limit]])),
  )
}

function* readJobs(sql: Sql): Verb<StoredJob[]> {
  const rows = yield* sql.all<{ source: string; definition: string }>(JOBS)
  return rows.map(({ source, definition }) => ({ job: JSON.parse(definition) as Job, source }))
}

function* readLimits(sql: Sql): Verb<Map<string, number>> {
  const rows = yield* sql.all<{ name: string; concurrency: number }>(LIMITS)
  return new Map(rows.map(({ name, concurrency }) => [name, concurrency]))
}

/** A job's definition; its defaults for a run whose job nobody defined. */
export function jobOf(catalog: Catalog, name: string): Job {
  return catalog.jobs.get(name) ?? { ...jobDefaults, name }
}

/** The queue of a job, if it has a limit. */
export function limitedQueueOf(catalog: Catalog, job: string): string | undefined {
  if (catalog.queueLimits.size === 0) return undefined
  const { queue } = jobOf(catalog, job)
  return catalog.queueLimits.has(queue) ? queue : undefined
}

/** Whether one of the jobs has a rate limit. */
export function isAnyRated({ ratedJobs }: Catalog, jobs: readonly string[]): boolean {
  return ratedJobs.size > 0 && jobs.some((job) => ratedJobs.has(job))
}

/** Whether a hold keeps every run from being claimed. */
export function isClaimingHeld(catalog: Catalog, now: Instant): boolean {
  return catalog.holds.some((hold) => claimingTargets.includes(hold.target) && holdsAt(hold, now))
}

/** Whether a hold keeps the runs of a queue from being claimed. */
export function isQueueHeld(catalog: Catalog, queue: string, now: Instant): boolean {
  if (catalog.holds.length === 0) return false
  const target: HoldTarget = `queue:${queue}`
  return catalog.holds.some((hold) => hold.target === target && holdsAt(hold, now))
}
