import { claimingTargets, type Hold } from '../../kernel/hold/hold.js'
import type { Job } from '../../kernel/job/job.js'
import type { Catalog } from '../sql/catalog.js'
import { holdOf, type HoldRow } from '../sql/rows.js'
import type { Database } from './database.js'

/** What rises with every change of the definitions. */
export interface Revisions {
  readonly jobs_revision: number
  readonly limits_revision: number
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
