import { claimingTargets, holdsAt, type Hold, type HoldTarget } from '../../model/hold.js'
import { jobDefaults, type Job } from '../../model/job.js'
import type { Instant } from '../../time/instant.js'
import type { Database } from './database.js'
import { holdOf, type HoldRow } from './rows.js'

/** What rises with every change of the definitions. */
export interface Revisions {
  readonly jobs_revision: number
  readonly limits_revision: number
}

/** What every claim needs of the definitions: read once and kept until a revision says that it changed. */
export interface Catalog {
  readonly jobsRevision: number
  readonly limitsRevision: number
  readonly jobs: ReadonlyMap<string, Job>
  /** The queues that have a limit. */
  readonly queueLimits: ReadonlyMap<string, number>
  /** The holds that keep runs from being claimed, past and open. */
  readonly holds: readonly Hold[]
}

const JOBS = `select name, definition from rota.jobs`

const LIMITS = `select name, concurrency from rota.queues where concurrency is not null`

// Relies on: holds_target.
const HOLDS = `select * from rota.holds
  where target = any($1::text[]) or (target >= 'queue:' and target < 'queue;')
  order by id`

/** The catalog of some revisions: the known one where nothing changed since. */
export async function loadCatalog(
  db: Database,
  known: Catalog | undefined,
  { jobs_revision: jobsRevision, limits_revision: limitsRevision }: Revisions,
): Promise<Catalog> {
  const areJobsKnown = known?.jobsRevision === jobsRevision
  const areLimitsKnown = known?.limitsRevision === limitsRevision
  if (areJobsKnown && areLimitsKnown) return known
  return {
    jobsRevision,
    limitsRevision,
    jobs: areJobsKnown ? known.jobs : await readJobs(db),
    queueLimits: areLimitsKnown ? known.queueLimits : await readLimits(db),
    holds: areLimitsKnown ? known.holds : await readHolds(db),
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

async function readJobs(db: Database): Promise<Map<string, Job>> {
  const rows = await db.all<{ name: string; definition: string }>(JOBS)
  return new Map(rows.map(({ name, definition }) => [name, JSON.parse(definition) as Job]))
}

async function readLimits(db: Database): Promise<Map<string, number>> {
  const rows = await db.all<{ name: string; concurrency: number }>(LIMITS)
  return new Map(rows.map(({ name, concurrency }) => [name, concurrency]))
}

async function readHolds(db: Database): Promise<Hold[]> {
  return (await db.all<HoldRow>(HOLDS, claimingTargets)).map(holdOf)
}
