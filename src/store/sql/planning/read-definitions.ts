import type { StoredTrigger, Trigger, TriggerVersion } from '../../../kernel/trigger/trigger.js'
import type { QueueStatus, StoredJob, TriggerFilter } from '../../port.js'
import { jobOf, type Catalog } from '../catalog.js'
import { highestTime } from '../meta.js'
import { orUndefined } from '../rows/run-rows.js'
import { ready, running } from '../rows/states.js'
import { FROM_TRIGGERS, storedTriggerOf, TRIGGER_COLUMNS, type TriggerRow } from '../rows/trigger-rows.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

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
export function* jobs(session: Session): Verb<readonly StoredJob[]> {
  return (yield* session.catalog()).storedJobs
}

/** Queues that are defined or used, by name. */
export function* queues(session: Session): Verb<QueueStatus[]> {
  const catalog = yield* session.catalog()
  const rows = yield* session.sql.all<{ name: string; concurrency: number | null }>(QUEUES)
  const limits = new Map(rows.map(({ name, concurrency }) => [name, orUndefined(concurrency)]))
  const names = new Set([...limits.keys(), ...[...catalog.jobs.values()].map((job) => job.queue)])
  const readyIn = yield* runsByQueue(session, catalog, 'ready')
  const runningIn = yield* runsByQueue(session, catalog, 'running')
  // No instant is handed in, so a hold with an end counts until a later instant was seen.
  const held = yield* session.sql.all<{ target: string }>(PAUSED, yield* highestTime(session))
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
export function* triggers(session: Session, filter: TriggerFilter): Verb<StoredTrigger[]> {
  const { source = null, names } = filter
  const active = filter.active === undefined ? null : Number(filter.active)
  const rows =
    names === undefined
      ? yield* session.sql.all<TriggerRow>(TRIGGERS, source, active)
      : yield* session.sql.all<TriggerRow>(TRIGGERS_NAMED, source, active, names)
  return rows.map(storedTriggerOf)
}

/** The fingerprint of each active trigger of a source. */
export function* fingerprints(session: Session, source: string): Verb<Map<string, string>> {
  const rows = yield* session.sql.all<{ name: string; fingerprint: string }>(FINGERPRINTS, source)
  return new Map(rows.map(({ name, fingerprint }) => [name, fingerprint]))
}

/** The versions of one trigger, oldest first. */
export function* versions(session: Session, trigger: string): Verb<TriggerVersion[]> {
  const rows = yield* session.sql.all<VersionRow>(VERSIONS, trigger)
  return rows.map((row) => ({
    name: trigger,
    version: row.version,
    trigger: JSON.parse(row.definition) as Trigger,
    validFrom: row.valid_from,
    validUntil: orUndefined(row.valid_until),
    tzdata: row.tzdata,
  }))
}

interface VersionRow {
  readonly version: number
  readonly valid_from: number
  readonly valid_until: number | null
  readonly tzdata: string
  readonly definition: string
}

function* runsByQueue(
  session: Session,
  catalog: Catalog,
  state: 'ready' | 'running',
): Verb<Map<string, number>> {
  const byQueue = new Map<string, number>()
  for (const { job, runs } of yield* session.sql.all<{ job: string; runs: number }>(IN_STATE[state])) {
    const { queue } = jobOf(catalog, job)
    byQueue.set(queue, (byQueue.get(queue) ?? 0) + runs)
  }
  return byQueue
}
