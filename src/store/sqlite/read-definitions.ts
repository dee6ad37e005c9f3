import type { StoredTrigger, TriggerVersion } from '../../kernel/trigger/trigger.js'
import type { QueueStatus, StoredJob, TriggerFilter } from '../port.js'
import { jobOf } from '../sql/catalog.js'
import { orUndefined } from '../sql/rows/run-rows.js'
import { ready, running } from '../sql/rows/states.js'
import { versionOf, type VersionRow } from '../sql/rows/version-rows.js'
import { highestTime } from '../sql/meta.js'
import type { Session } from './session.js'
import { storedTriggerOf, TRIGGER_COLUMNS, type TriggerRow } from './trigger-rows.js'

const QUEUES = `select name, concurrency from queues`

// Relies on: runs_ready and runs_running, never history.
const IN_STATE = {
  ready: `select job, count(*) as runs from runs where state = ${ready} group by job`,
  running: `select job, count(*) as runs from runs where state = ${running} group by job`,
} as const

// Relies on: holds_target.
const PAUSED = `select 1 from holds
  where target = 'queue:' || ? and is_released = 0 and (until_at is null or until_at > ?) limit 1`

// Relies on: primary keys; triggers_fingerprint does not help, since those that ended are wanted too.
const TRIGGERS = `select json_group_array(row) from (
    select json_array(${TRIGGER_COLUMNS}) as row
    from triggers join versions on versions.trigger = triggers.name and versions.version = triggers.version
    where (?1 is null or source = ?1) and (?2 is null or is_active = ?2) order by name
  )`

const TRIGGERS_NAMED = `select json_group_array(row) from (
    select json_array(${TRIGGER_COLUMNS}) as row
    from triggers join versions on versions.trigger = triggers.name and versions.version = triggers.version
    where name in (select value from json_each(?3)) and (?1 is null or source = ?1)
      and (?2 is null or is_active = ?2) order by name
  )`

// Relies on: triggers_fingerprint, which has all that is asked for.
const FINGERPRINTS = `select json_group_array(json_array(name, fingerprint)) from triggers
  where source = ? and is_active = 1`

// Relies on: primary key.
const VERSIONS = `select version, valid_from, valid_until, tzdata, definition from versions
  where trigger = ? order by version`

/** Jobs by name. */
export function jobs(session: Session): readonly StoredJob[] {
  return session.catalogNow.storedJobs
}

/** Queues that are defined or used, by name. */
export function queues(session: Session): QueueStatus[] {
  const { db, catalogNow: catalog } = session
  const rows = db.all<{ name: string; concurrency: number | null }>(QUEUES)
  const limits = new Map(rows.map(({ name, concurrency }) => [name, orUndefined(concurrency)]))
  const names = new Set([...limits.keys(), ...[...catalog.jobs.values()].map((job) => job.queue)])
  const [readyIn, runningIn] = [runsByQueue(session, 'ready'), runsByQueue(session, 'running')]
  const highestAt = session.db.perform(highestTime(session))
  return [...names].toSorted().map((name) => ({
    name,
    concurrency: limits.get(name),
    // No instant is handed in, so a hold with an end counts until a later instant was seen.
    paused: db.value(PAUSED, name, highestAt) !== undefined,
    ready: readyIn.get(name) ?? 0,
    running: runningIn.get(name) ?? 0,
  }))
}

/** Triggers by name: all, one source's, or the named ones. */
export function triggers(session: Session, filter: TriggerFilter): StoredTrigger[] {
  const { source = null, names } = filter
  const { db } = session
  const active = filter.active === undefined ? null : Number(filter.active)
  const rows =
    names === undefined
      ? db.json<string[]>(TRIGGERS, source, active)
      : db.json<string[]>(TRIGGERS_NAMED, source, active, JSON.stringify(names))
  return rows.map((row) => storedTriggerOf(JSON.parse(row) as TriggerRow))
}

/** The fingerprint of each active trigger of a source. */
export function fingerprints(session: Session, source: string): Map<string, string> {
  return new Map(session.db.json<[string, string][]>(FINGERPRINTS, source))
}

/** The versions of one trigger, oldest first. */
export function versions(session: Session, trigger: string): TriggerVersion[] {
  return session.db.all<VersionRow>(VERSIONS, trigger).map((row) => versionOf(trigger, row))
}

function runsByQueue(session: Session, state: 'ready' | 'running'): Map<string, number> {
  const { catalogNow: catalog } = session
  const byQueue = new Map<string, number>()
  for (const { job, runs } of session.db.all<{ job: string; runs: number }>(IN_STATE[state])) {
    const { queue } = jobOf(catalog, job)
    byQueue.set(queue, (byQueue.get(queue) ?? 0) + runs)
  }
  return byQueue
}
