import type { Job } from '../../kernel/job/job.js'
import type { StoredTrigger, TriggerVersion } from '../../kernel/trigger/trigger.js'
import type { QueueStatus, StoredJob, TriggerFilter } from '../port.js'
import { jobOf, type Catalog } from '../sql/catalog.js'
import { orUndefined } from '../sql/rows/run-rows.js'
import { ready, running } from '../sql/rows/states.js'
import { versionOf, type VersionRow } from '../sql/rows/version-rows.js'
import { highestTime } from '../sql/meta.js'
import type { Session } from './session.js'
import { FROM_TRIGGERS, storedTriggerOf, TRIGGER_COLUMNS, type TriggerRow } from './trigger-rows.js'

const JOBS = `select source, definition from rota.jobs order by name`

const QUEUES = `select name, concurrency from rota.queues`

// Relies on: runs_ready and runs_running, never history.
const IN_STATE = {
  ready: `select job, count(*) as runs from rota.runs where state = ${ready} group by job`,
  running: `select job, count(*) as runs from rota.runs where state = ${running} group by job`,
} as const

// Relies on: holds_target.
const PAUSED = `select target from rota.holds
  where target >= 'queue:' and target < 'queue;' and is_released = 0 and (until_at is null or until_at > $1)`

// Relies on: primary keys; triggers_fingerprint does not help, since those that ended are wanted too.
const TRIGGERS = `select ${TRIGGER_COLUMNS} ${FROM_TRIGGERS}
  where ($1::text is null or source = $1::text) and ($2::int is null or is_active = $2::int) order by name`

const TRIGGERS_NAMED = `select ${TRIGGER_COLUMNS} ${FROM_TRIGGERS}
  where name = any($3::text[]) and ($1::text is null or source = $1::text)
    and ($2::int is null or is_active = $2::int) order by name`

// Relies on: triggers_fingerprint, which has all that is asked for.
const FINGERPRINTS = `select name, fingerprint from rota.triggers where source = $1 and is_active = 1`

// Relies on: primary key.
const VERSIONS = `select version, valid_from, valid_until, tzdata, definition from rota.versions
  where trigger = $1 order by version`

/** Jobs by name. */
export async function jobs(session: Session): Promise<StoredJob[]> {
  const rows = await session.db.all<{ source: string; definition: string }>(JOBS)
  return rows.map(({ source, definition }) => ({ job: JSON.parse(definition) as Job, source }))
}

/** Queues that are defined or used, by name. */
export async function queues(session: Session): Promise<QueueStatus[]> {
  const { db } = session
  const catalog = await session.catalogNow()
  const rows = await db.all<{ name: string; concurrency: number | null }>(QUEUES)
  const limits = new Map(rows.map(({ name, concurrency }) => [name, orUndefined(concurrency)]))
  const names = new Set([...limits.keys(), ...[...catalog.jobs.values()].map((job) => job.queue)])
  const readyIn = await runsByQueue(session, catalog, 'ready')
  const runningIn = await runsByQueue(session, catalog, 'running')
  // No instant is handed in, so a hold with an end counts until a later instant was seen.
  const held = await db.all<{ target: string }>(PAUSED, await session.db.perform(highestTime(session)))
  const paused = new Set(held.map(({ target }) => target))
  return [...names].toSorted().map((name) => ({
    name,
    concurrency: limits.get(name),
    paused: paused.has(`queue:${name}`),
    ready: readyIn.get(name) ?? 0,
    running: runningIn.get(name) ?? 0,
  }))
}

/** Triggers by name: all, one source's, or the named ones. */
export async function triggers(session: Session, filter: TriggerFilter): Promise<StoredTrigger[]> {
  const { source = null, names } = filter
  const { db } = session
  const active = filter.active === undefined ? null : Number(filter.active)
  const rows =
    names === undefined
      ? await db.all<TriggerRow>(TRIGGERS, source, active)
      : await db.all<TriggerRow>(TRIGGERS_NAMED, source, active, names)
  return rows.map(storedTriggerOf)
}

/** The fingerprint of each active trigger of a source. */
export async function fingerprints(session: Session, source: string): Promise<Map<string, string>> {
  const rows = await session.db.all<{ name: string; fingerprint: string }>(FINGERPRINTS, source)
  return new Map(rows.map(({ name, fingerprint }) => [name, fingerprint]))
}

/** The versions of one trigger, oldest first. */
export async function versions(session: Session, trigger: string): Promise<TriggerVersion[]> {
  return (await session.db.all<VersionRow>(VERSIONS, trigger)).map((row) => versionOf(trigger, row))
}

async function runsByQueue(
  session: Session,
  catalog: Catalog,
  state: 'ready' | 'running',
): Promise<Map<string, number>> {
  const byQueue = new Map<string, number>()
  for (const { job, runs } of await session.db.all<{ job: string; runs: number }>(IN_STATE[state])) {
    const { queue } = jobOf(catalog, job)
    byQueue.set(queue, (byQueue.get(queue) ?? 0) + runs)
  }
  return byQueue
}
