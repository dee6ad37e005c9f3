import { jobDefaults, type Job } from '../../kernel/job/job.js'
import type { DefineConflict, DefineJobs } from '../port.js'
import { done, running } from '../sql/rows/states.js'
import { followLimits } from './gates.js'
import { markJobsChanged, markLimitsChanged } from '../sql/meta.js'
import type { Session } from './session.js'

// Relies on: primary key. Being alone closes the race of two sources for one name.
const SOURCES = `select name, source from rota.jobs where name = any($1::text[])`

// The same, of jobs that their sources still define.
const OWNERS = `${SOURCES} and definition::json ->> 'ended' is null`

const WRITE_JOBS = `insert into rota.jobs (name, source, queue, definition)
  select name, $2, queue, definition from unnest($1::text[], $3::text[], $4::text[]) given (name, queue, definition)
  on conflict (name) do update
  set source = excluded.source, queue = excluded.queue, definition = excluded.definition`

const WRITE_QUEUE = `insert into rota.queues (name, concurrency) values ($1, $2)
  on conflict (name) do update set concurrency = excluded.concurrency`

/** Relies on: runs_running. Only what is held at this moment is counted, never history. */
export const COUNT_RUNNING = `update rota.queues set running = (
    select count(*) from rota.runs left join rota.jobs on jobs.name = runs.job where state = ${running}
      and coalesce(jobs.queue, '${jobDefaults.queue}') = queues.name
  ) where concurrency is not null`

const FORGET_JOBS = `delete from rota.jobs where name = any($1::text[])`

// A round makes runs of the jobs of its services, whatever stands in its own column. Unfinished runs are looked up in
// the partial index of each state, never in history.
const USED = `select job from rota.triggers where is_active = 1 and job = any($1::text[])
  union select service ->> 'job' from rota.triggers
    join rota.versions on versions.trigger = triggers.name and versions.version = triggers.version,
    json_array_elements(case when definition like '%"services"%' then definition::json #> '{round,services}' end) service
    where is_active = 1
  union select job from rota.runs where state < ${done} and job = any($1::text[])`

/** Writes the jobs and queues of a source; what another source still defines stays. Counts and limits follow. */
export async function defineJobs(session: Session, request: DefineJobs): Promise<DefineConflict[]> {
  session.beExclusive()
  const { db } = session
  for (const { name, concurrency = null } of request.queues) await db.change(WRITE_QUEUE, name, concurrency)
  if (request.queues.length > 0) await session.db.perform(markLimitsChanged(session))
  const names = request.jobs.map(({ name }) => name)
  const sources = await sourcesOf(session, OWNERS, names)
  const isOurs = ({ name }: { name: string }): boolean =>
    (sources.get(name) ?? request.source) === request.source
  const ours = [...new Map(request.jobs.filter(isOurs).map((job) => [job.name, job])).values()]
  if (ours.length > 0) await writeJobs(session, ours, request.source)
  await session.db.perform(markJobsChanged(session, request.jobs.filter(isOurs).length))
  await db.change(COUNT_RUNNING)
  for (const job of request.jobs) await followLimits(session, job.name)
  return request.jobs
    .filter((job) => !isOurs(job))
    .map(({ name }) => ({ name, source: sources.get(name) as string }))
}

/** Forgets jobs that nothing uses; answers those it kept. */
export async function removeJobs(session: Session, names: readonly string[]): Promise<string[]> {
  session.beExclusive()
  const { db } = session
  const used = new Set((await db.all<{ job: string }>(USED, names)).map(({ job }) => job))
  const known = await sourcesOf(session, SOURCES, names)
  const removed = await db.change(
    FORGET_JOBS,
    names.filter((name) => !used.has(name)),
  )
  await session.db.perform(markJobsChanged(session, removed))
  return names.filter((name) => used.has(name) && known.has(name))
}

/** Writes jobs, whatever stands there. */
export async function writeJobs({ db }: Session, jobs: readonly Job[], source: string): Promise<void> {
  const names = jobs.map(({ name }) => name)
  const queues = jobs.map(({ queue }) => queue)
  const definitions = jobs.map((job) => JSON.stringify(job))
  await db.change(WRITE_JOBS, names, source, queues, definitions)
}

async function sourcesOf(
  { db }: Session,
  query: string,
  names: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.all<{ name: string; source: string }>(query, names)
  return new Map(rows.map(({ name, source }) => [name, source]))
}
