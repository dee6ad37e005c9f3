import { jobDefaults, type Job, type Queue } from '../../kernel/job/job.js'
import type { DefineConflict, DefineJobs } from '../port.js'
import { blocked, delayed, ready, running } from '../sql/rows/states.js'
import { followLimits } from './gates.js'
import { markJobsChanged, markLimitsChanged } from '../sql/meta.js'
import type { Session } from './session.js'

// Relies on: primary key. The write lock closes the race of two sources for one name.
const JOB_SOURCE = `select source from jobs where name = ?`

// The same, of a job that its source still defines.
const JOB_OWNER = `${JOB_SOURCE} and definition ->> 'ended' is null`

const WRITE_JOB = `insert into jobs (name, source, definition) values (?, ?, ?)
  on conflict (name) do update set source = excluded.source, definition = excluded.definition`

const WRITE_QUEUE = `insert into queues (name, concurrency) values (?, ?)
  on conflict (name) do update set concurrency = excluded.concurrency`

/** Relies on: runs_running. Only what is held at this moment is counted, never history. */
export const COUNT_RUNNING = `update queues set running = (
    select count(*) from runs where state = ${running}
      and coalesce((select definition ->> 'queue' from jobs where name = runs.job), '${jobDefaults.queue}') = queues.name
  ) where concurrency is not null`

const FORGET_JOB = `delete from jobs where name = ?`

// A round makes runs of the jobs of its services, whatever stands in its own column.
const USED_BY_TRIGGER = `select distinct job from triggers where is_active = 1
  union select service.value ->> 'job' from triggers
    join versions on versions.trigger = triggers.name and versions.version = triggers.version,
    json_each(versions.definition, '$.round.services') service where is_active = 1`

// Relies on: runs_ready, runs_running, runs_delayed, runs_blocked: one after the other, never history.
const UNFINISHED = `select 1 where
  exists (select 1 from runs where state = ${ready} and job = ?1)
  or exists (select 1 from runs where state = ${running} and job = ?1)
  or exists (select 1 from runs where state = ${delayed} and job = ?1)
  or exists (select 1 from runs where state = ${blocked} and job = ?1)`

/** Writes the jobs and queues of a source; what another source still defines stays. Counts and limits follow. */
export function defineJobs(session: Session, request: DefineJobs): DefineConflict[] {
  for (const queue of request.queues) writeQueue(session, queue)
  if (request.queues.length > 0) session.db.perform(markLimitsChanged(session))
  const conflicts: DefineConflict[] = []
  for (const job of request.jobs) {
    const source = session.db.value(JOB_OWNER, job.name)
    if (source === undefined || source === request.source) writeJob(session, job, request.source)
    else conflicts.push({ name: job.name, source: source as string })
  }
  session.db.perform(markJobsChanged(session, request.jobs.length - conflicts.length))
  session.db.change(COUNT_RUNNING)
  for (const job of request.jobs) followLimits(session, job.name)
  return conflicts
}

/** Forgets jobs that nothing uses; answers those it kept. */
export function removeJobs(session: Session, names: readonly string[]): string[] {
  const { db } = session
  const used = new Set(db.all<{ job: string }>(USED_BY_TRIGGER).map(({ job }) => job))
  let removed = 0
  const kept = names.filter((name) => {
    if (used.has(name) || db.value(UNFINISHED, name) !== undefined) {
      return db.value(JOB_SOURCE, name) !== undefined
    }
    removed += db.change(FORGET_JOB, name)
    return false
  })
  session.db.perform(markJobsChanged(session, removed))
  return kept
}

function writeQueue(session: Session, queue: Queue): void {
  session.db.change(WRITE_QUEUE, queue.name, queue.concurrency ?? null)
}

function writeJob(session: Session, job: Job, source: string): void {
  session.db.change(WRITE_JOB, job.name, source, JSON.stringify(job))
}
