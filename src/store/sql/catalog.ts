import { claimingTargets, holdsAt, type Hold, type HoldTarget } from '../../kernel/hold/hold.js'
import { jobDefaults, type Job, type Queue } from '../../kernel/job/job.js'
import { ratesOf, type JobRates, type RateLimit } from '../../kernel/job/rate-limit.js'
import type { Instant } from '../../time/instant.js'
import type { StoredJob } from '../port.js'
import { holdOf, orUndefined, type HoldRow } from './rows/run-rows.js'
import { answered, type Sql, type Verb } from './verb.js'

/** The definitions that every claim needs: read once and kept until a revision shows a change. */
export interface Catalog {
  readonly jobsRevision: number
  readonly limitsRevision: number
  readonly jobs: ReadonlyMap<string, Job>
  /** The jobs with their sources, ordered by name. */
  readonly storedJobs: readonly StoredJob[]
  /** The rate limits of jobs and of their queues, for the jobs that have one. */
  readonly rates: ReadonlyMap<string, JobRates>
  /** The queues with a concurrency limit. */
  readonly queueLimits: ReadonlyMap<string, number>
  /** The holds on claiming, past and open. */
  readonly holds: readonly Hold[]
  /** The queues that are defined. */
  readonly queues: readonly Queue[]
}

/** Numbers that increase with every change of the definitions. */
export interface Revisions {
  readonly jobs_revision: number
  readonly limits_revision: number
}

// Relies on: primary key. Read in the transaction that uses the catalog, so no definition can change in between.
const REVISIONS = `select jobs_revision, limits_revision from rota.meta where id = 1`

const JOBS = `select source, definition from rota.jobs order by name`

const QUEUES = `select name, concurrency, rate from rota.queues order by name`

// Relies on: holds_target.
const HOLDS = `select * from rota.holds
  where target = any($1::text[]) or (target >= 'queue:' and target < 'queue;') order by id`

/** Reads the current revisions. */
export function* readRevisions(sql: Sql): Verb<Revisions> {
  const revisions = yield* sql.get<Revisions>(REVISIONS)
  if (revisions === undefined) throw new Error('The store has no row in `meta`')
  return revisions
}

/** The catalog of some revisions; reuses the unchanged parts of the known one. */
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
  const queues = limits?.queues ?? (yield* storedQueues(sql))
  return {
    jobsRevision,
    limitsRevision,
    queues,
    jobs: jobs?.jobs ?? new Map(storedJobs.map(({ job }) => [job.name, job])),
    storedJobs,
    rates: ratesByJob(storedJobs, queues),
    queueLimits: limits?.queueLimits ?? concurrencyOf(queues),
    holds: limits?.holds ?? (yield* sql.all<HoldRow>(HOLDS, claimingTargets)).map(holdOf),
  }
}

function ratesByJob(storedJobs: readonly StoredJob[], queues: readonly Queue[]): Map<string, JobRates> {
  const byName = new Map(queues.map((queue) => [queue.name, queue]))
  return new Map(
    storedJobs.flatMap(({ job }) => {
      const rates = ratesOf(job, byName.get(job.queue))
      return rates === undefined ? [] : [[job.name, rates]]
    }),
  )
}

function* readJobs(sql: Sql): Verb<StoredJob[]> {
  const rows = yield* sql.all<{ source: string; definition: string }>(JOBS)
  return rows.map(({ source, definition }) => ({ job: JSON.parse(definition) as Job, source }))
}

function concurrencyOf(queues: readonly Queue[]): Map<string, number> {
  return new Map(
    queues.flatMap(({ name, concurrency }) => (concurrency === undefined ? [] : [[name, concurrency]])),
  )
}

/** The queues that are defined, by name. */
export function* storedQueues(sql: Sql): Verb<Queue[]> {
  const rows = yield* sql.all<{ name: string; concurrency: number | null; rate: string | null }>(QUEUES)
  return rows.map(({ name, concurrency, rate }) => ({
    name,
    concurrency: orUndefined(concurrency),
    ...(rate === null ? {} : { limit: JSON.parse(rate) as RateLimit }),
  }))
}

/** The definition of a job; the defaults if it is not defined. */
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
export function isAnyRated({ rates }: Catalog, jobs: readonly string[]): boolean {
  return rates.size > 0 && jobs.some((job) => rates.has(job))
}

/** When the first hold ends that keeps runs of these jobs from being claimed now; undefined where none of them has an end. */
export function heldUntil(catalog: Catalog, jobs: readonly string[], now: Instant): Instant | undefined {
  if (catalog.holds.length === 0) return undefined
  const targets = new Set<HoldTarget>(claimingTargets)
  for (const job of jobs) targets.add(`queue:${jobOf(catalog, job).queue}`)
  const own = catalog.holds.filter((hold) => targets.has(hold.target) && holdsAt(hold, now))
  const first = Math.min(...own.map(({ untilAt = Infinity }) => untilAt))
  return first === Infinity ? undefined : first
}

/** Whether a hold stops all claiming. */
export function isClaimingHeld(catalog: Catalog, now: Instant): boolean {
  return catalog.holds.some((hold) => claimingTargets.includes(hold.target) && holdsAt(hold, now))
}

/** Whether a hold stops claims from a queue. */
export function isQueueHeld(catalog: Catalog, queue: string, now: Instant): boolean {
  if (catalog.holds.length === 0) return false
  const target: HoldTarget = `queue:${queue}`
  return catalog.holds.some((hold) => hold.target === target && holdsAt(hold, now))
}
