import type { StoredTrigger, Trigger, TriggerVersion } from '../../../kernel/trigger/trigger.js'
import type { StoredJob, TriggerFilter } from '../../port.js'
import { orUndefined } from '../rows/run-rows.js'
import { FROM_TRIGGERS, storedTriggerOf, TRIGGER_COLUMNS, type TriggerRow } from '../rows/trigger-rows.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'

// Relies on: primary keys; triggers_fingerprint does not help, since ended triggers are included.
const TRIGGERS = `select ${TRIGGER_COLUMNS} ${FROM_TRIGGERS}
  where ($1::text is null or source = $1::text) and ($2::int is null or is_active = $2::int) order by name`

const TRIGGERS_NAMED = `select ${TRIGGER_COLUMNS} ${FROM_TRIGGERS}
  where name = any($3::text[]) and ($1::text is null or source = $1::text)
    and ($2::int is null or is_active = $2::int) order by name`

// Relies on: triggers_fingerprint, which has all requested columns.
const FINGERPRINTS = `select name, fingerprint from rota.triggers where source = $1 and is_active = 1`

// Relies on: triggers_fingerprint.
const NEXT_SOURCE = `select source from rota.triggers where is_active = 1 and source > $1 order by source limit 1`

// Relies on: primary key.
const VERSIONS = `select version, valid_from, valid_until, tzdata, definition from rota.versions
  where trigger = $1 order by version`

/** Jobs by name. */
export function* jobs(session: Session): Verb<readonly StoredJob[]> {
  return (yield* session.catalog()).storedJobs
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

/** The sources of active triggers: one step through the index for each, however many triggers it has. */
export function* sources(session: Session): Verb<string[]> {
  const found: string[] = []
  for (;;) {
    const next = yield* session.sql.value<string>(NEXT_SOURCE, found.at(-1) ?? '')
    if (next === undefined) return found
    found.push(next)
  }
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
