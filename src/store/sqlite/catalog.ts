import { claimingTargets, holdsAt, type Hold, type HoldTarget } from '../../model/hold.js'
import { jobDefaults, type Job } from '../../model/job.js'
import type { Instant } from '../../time/instant.js'
import type { StoredJob } from '../store.js'
import type { Database } from './database.js'
import { holdOf, type HoldRow } from './rows.js'

/** What every claim needs of the definitions: read once and kept until a revision says that it changed. */
export interface Catalog {
  readonly jobsRevision: number
  readonly limitsRevision: number
  readonly jobs: ReadonlyMap<string, Job>
  /** The same with their sources, in the order of their names. */
  readonly storedJobs: readonly StoredJob[]
  /** The queues that have a limit. */
  readonly queueLimits: ReadonlyMap<string, number>
  /** The holds that keep runs from being claimed, past and open. */
  readonly holds: readonly Hold[]
}

// Relies on: primary key. Read in the transaction that uses the catalog, so no definition can change in between.
const REVISIONS = `select json_array(jobs_revision, limits_revision) from meta where id = 1`

const JOBS = `select source, definition from jobs order by name`

const LIMITS = `select json_group_array(json_array(name, concurrency)) from queues where concurrency is not null`

// Relies on: holds_target.
const HOLDS = `select * from holds
  where target in (select value from json_each(?)) or (target >= 'queue:' and target < 'queue;')
  order by id`

/** The catalog as it stands: the known one where nothing changed since. */
export function loadCatalog(db: Database, known: Catalog | undefined): Catalog {
  const [jobsRevision, limitsRevision] = db.json<[number, number]>(REVISIONS)
  const areJobsKnown = known?.jobsRevision === jobsRevision
  const areLimitsKnown = known?.limitsRevision === limitsRevision
  if (areJobsKnown && areLimitsKnown) return known
  const storedJobs = areJobsKnown ? known.storedJobs : readJobs(db)
  return {
    jobsRevision,
    limitsRevision,
    jobs: areJobsKnown ? known.jobs : new Map(storedJobs.map(({ job }) => [job.name, job])),
    storedJobs,
    queueLimits: areLimitsKnown ? known.queueLimits : new Map(db.json<[string, number][]>(LIMITS)),
    holds: areLimitsKnown ? known.holds : readHolds(db),
  }
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

function readJobs(db: Database): readonly StoredJob[] {
  return db.all<{ source: string; definition: string }>(JOBS).map(({ source, definition }) => {
    return { job: JSON.parse(definition) as Job, source }
  })
}

function readHolds(db: Database): Hold[] {
  return db.all<HoldRow>(HOLDS, JSON.stringify(claimingTargets)).map(holdOf)
}
