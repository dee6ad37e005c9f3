import { jobDefaults, type Job, type Queue } from '../../../kernel/job/job.js'
import type { DefineConflict, DefineJobs } from '../../port.js'
import { markJobsChanged, markLimitsChanged } from '../meta.js'
import { blocked, delayed, ready, running } from '../rows/states.js'
import { wakeAll } from '../policies/parked.js'
import { followLimits } from '../runs/concurrency-slots.js'
import type { Session } from '../session.js'
import { each, insertInto } from '../statement.js'
import type { Verb } from '../verb.js'

// Relies on: primary key. Exclusive access closes the race of two sources for one name.
const SOURCES = `select name, source from rota.jobs where name = any($1::text[])`

// The same for jobs that their sources still define.
const OWNERS = `${SOURCES} and definition::json ->> 'ended' is null`

// Each relies on: primary key. Needs no lock: whoever changes a definition meanwhile comes later.
const STORED_JOBS = `select name, source, definition from rota.jobs where name = any($1::text[])`
const STORED_QUEUES = `select name, concurrency, rate from rota.queues where name = any($1::text[])`

const overwrite = `on conflict (name) do update set source = excluded.source, definition = excluded.definition`

// SQLite has no column for the queue: it reads the queue from the definition.
const WRITE_JOBS = each({
  sqlite: `insert into jobs (name, source, definition) select $1, $2, $3 where $4 is not null ${overwrite}`,
  postgres: insertInto(
    'rota.jobs',
    { name: 'text', source: 'text', definition: 'text', queue: 'text' },
    `${overwrite}, queue = excluded.queue`,
  ).postgres,
})

const WRITE_QUEUES = insertInto(
  'rota.queues',
  { name: 'text', concurrency: 'int8', rate: 'text' },
  `on conflict (name) do update set concurrency = excluded.concurrency, rate = excluded.rate`,
)

// Relies on: runs_running. Only runs that are held at this moment are counted, never history.
const COUNT_RUNNING = each({
  sqlite: `update queues set running = (
      select count(*) from runs where state = ${running}
        and coalesce((select definition ->> 'queue' from jobs where name = runs.job), '${jobDefaults.queue}') = queues.name
    ) where concurrency is not null`,
  postgres: `update rota.queues set running = (
      select count(*) from rota.runs left join rota.jobs on jobs.name = runs.job where state = ${running}
        and coalesce(jobs.queue, '${jobDefaults.queue}') = queues.name
    ) where concurrency is not null`,
})

const FORGET_JOBS = `delete from rota.jobs where name = any($1::text[])`

// Relies on: runs_ready, runs_running, runs_delayed, runs_blocked: one after the other, never history.
const USED_BY = `select job from rota.triggers where is_active = 1 and job = any($1::text[])
  union select job from rota.runs where state = ${ready} and job = any($1::text[])
  union select job from rota.runs where state = ${running} and job = any($1::text[])
  union select job from rota.runs where state = ${delayed} and job = any($1::text[])
  union select job from rota.runs where state = ${blocked} and job = any($1::text[])`

const IN_FORCE = `rota.triggers join rota.versions
  on versions.trigger = triggers.name and versions.version = triggers.version`

// A round creates runs of the jobs of its services, whatever its own column contains.
const USED = each({
  sqlite: `${USED_BY} union select service.value ->> 'job'
    from ${IN_FORCE}, json_each(versions.definition, '$.round.services') service where is_active = 1`,
  postgres: `${USED_BY} union select service ->> 'job' from ${IN_FORCE}, json_array_elements(
      case when definition like '%"services"%' then definition::json #> '{round,services}' end
    ) service where is_active = 1`,
})

/** Writes the jobs and queues of a source; jobs that another source still defines stay. Counts and limits follow. */
export function* defineJobs(session: Session, request: DefineJobs): Verb<DefineConflict[]> {
  // Usually nothing has changed: then a process starts without making the others wait.
  if (yield* areStored(session, request)) return []
  session.beExclusive()
  const { source } = request
  for (const queue of request.queues) yield* writeQueue(session, queue)
  if (request.queues.length > 0) yield* markLimitsChanged(session)
  const names = request.jobs.map(({ name }) => name)
  const sources = yield* sourcesOf(session, OWNERS, names)
  const ours = request.jobs.filter(({ name }) => (sources.get(name) ?? source) === source)
  yield* writeJobs(session, [...new Map(ours.map((job) => [job.name, job])).values()], source)
  yield* markJobsChanged(session, ours.length)
  yield* countRunning(session)
  for (const name of names) yield* followLimits(session, name)
  yield* wakeAll(session, names)
  const isOurs = new Set(ours)
  const others = request.jobs.filter((job) => !isOurs.has(job))
  return others.map(({ name }) => ({ name, source: sources.get(name) as string }))
}

/** Whether the jobs and queues are stored already, exactly as the source defines them. */
function* areStored(session: Session, { source, jobs, queues }: DefineJobs): Verb<boolean> {
  const [storedJobs, storedQueues] = yield* session.sql.together(
    session.sql.all<{ name: string; source: string; definition: string }>(
      STORED_JOBS,
      jobs.map(({ name }) => name),
    ),
    session.sql.all<{ name: string; concurrency: number | null; rate: string | null }>(
      STORED_QUEUES,
      queues.map(({ name }) => name),
    ),
  )
  const jobTexts = new Map(storedJobs.map((row) => [row.name, `${row.source} ${row.definition}`]))
  const queueTexts = new Map(
    storedQueues.map((row) => [row.name, JSON.stringify([row.name, row.concurrency, row.rate])]),
  )
  return (
    jobs.every((job) => jobTexts.get(job.name) === `${source} ${JSON.stringify(job)}`) &&
    queues.every((queue) => queueTexts.get(queue.name) === JSON.stringify(queueValues(queue)))
  )
}

/** Removes jobs that nothing uses; returns those it kept. */
export function* removeJobs(session: Session, names: readonly string[]): Verb<string[]> {
  session.beExclusive()
  const used = new Set((yield* session.sql.all<{ job: string }>(USED, names)).map(({ job }) => job))
  const known = yield* sourcesOf(session, SOURCES, names)
  const unused = names.filter((name) => !used.has(name))
  yield* markJobsChanged(session, yield* session.sql.change(FORGET_JOBS, unused))
  return names.filter((name) => used.has(name) && known.has(name))
}

/** Writes jobs, whatever is stored under their names. */
export function* writeJobs(session: Session, jobs: readonly Job[], source: string): Verb<void> {
  yield* session.sql.insert(
    WRITE_JOBS,
    jobs.map((job) => [job.name, source, JSON.stringify(job), job.queue]),
  )
}

/** Writes a queue, whatever is stored under its name. */
export function* writeQueue(session: Session, queue: Queue): Verb<void> {
  yield* session.sql.insert(WRITE_QUEUES, [queueValues(queue)])
}

function queueValues({ name, concurrency, limit }: Queue): [string, number | null, string | null] {
  return [name, concurrency ?? null, limit === undefined ? null : JSON.stringify(limit)]
}

/** Counts again how many runs of each limited queue are running. */
export function* countRunning(session: Session): Verb<void> {
  yield* session.sql.change(COUNT_RUNNING)
}

function* sourcesOf(session: Session, sql: string, names: readonly string[]): Verb<Map<string, string>> {
  const rows = yield* session.sql.all<{ name: string; source: string }>(sql, names)
  return new Map(rows.map(({ name, source }) => [name, source]))
}
