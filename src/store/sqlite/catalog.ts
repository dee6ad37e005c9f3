import { claimingTargets, type Hold } from '../../kernel/hold/hold.js'
import type { Job } from '../../kernel/job/job.js'
import type { StoredJob } from '../port.js'
import type { Catalog } from '../sql/catalog.js'
import { holdOf, type HoldRow } from '../sql/rows.js'
import type { Database } from './database.js'

/** A catalog that also knows the jobs as the port gives them. */
export interface FullCatalog extends Catalog {
  /** The jobs with their sources, in the order of their names. */
  readonly storedJobs: readonly StoredJob[]
}

// Relies on: primary key. Read in the transaction that uses the catalog, so no definition can change in between.
const REVISIONS = `select jobs_revision, limits_revision from meta where id = 1`

const JOBS = `select source, definition from jobs order by name`

const LIMITS = `select json_group_array(json_array(name, concurrency)) from queues where concurrency is not null`

// Relies on: holds_target.
const HOLDS = `select * from holds
  where target in (select value from json_each(?)) or (target >= 'queue:' and target < 'queue;')
  order by id`

/** The catalog as it stands: the known one where nothing changed since. */
export function loadCatalog(db: Database, known: FullCatalog | undefined): FullCatalog {
  const [jobsRevision, limitsRevision] = db.row<[number, number]>(REVISIONS)
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

function readJobs(db: Database): readonly StoredJob[] {
  return db.all<{ source: string; definition: string }>(JOBS).map(({ source, definition }) => {
    return { job: JSON.parse(definition) as Job, source }
  })
}

function readHolds(db: Database): Hold[] {
  return db.all<HoldRow>(HOLDS, JSON.stringify(claimingTargets)).map(holdOf)
}
