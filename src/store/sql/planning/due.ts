import { holdsAt, planningTargets, type Hold } from '../../../kernel/hold/hold.js'
import type { DueTrigger, UnfinishedRun } from '../../../kernel/trigger/trigger.js'
import type { Instant } from '../../../time/instant.js'
import { jobOf } from '../catalog.js'
import { holdOf, OF_BACKFILL, type HoldRow } from '../rows/run-rows.js'
import { done, running } from '../rows/states.js'
import { FROM_TRIGGERS, storedTriggerOf, TRIGGER_COLUMNS, type TriggerRow } from '../rows/trigger-rows.js'
import type { Session } from '../session.js'
import { each } from '../statement.js'
import type { Verb } from '../verb.js'

/** The most unfinished runs that a tick gets. Runs of backfills do not count: they do not affect what is due now. */
const maxUnfinished = 100

// Relies on: holds_target, runs_unfinished. Both are read in the same statement as the trigger: one snapshot for all. Runs
// of backfills are the last in this order. As a condition of the inner query, they would make Postgres expect so few runs that
// it reads and sorts all of them.
const DUE_COLUMNS = `${TRIGGER_COLUMNS},
  (select json_agg(json_build_object('id', id, 'target', target, 'from_at', from_at, 'until_at', until_at,
      'actor', actor, 'note', note, 'catch_up', catch_up))::text from (
    select * from rota.holds where target = 'trigger:' || triggers.name
      and from_at <= $1 and (until_at is null or until_at > triggers.cursor_at) order by id) own) as holds,
  (select json_agg(json_build_array(id, state))::text from (
    select id, state, ${OF_BACKFILL} as of_backfill from rota.runs where trigger = triggers.name and state < ${done}
    order by ${OF_BACKFILL}, id limit ${maxUnfinished}) own where of_backfill = 0) as unfinished`

// Relies on: triggers_due, then the primary keys.
const DUE = `select ${DUE_COLUMNS} ${FROM_TRIGGERS}
  where is_ticking = 1 and next_at is not null and next_at <= $1 order by next_at, name limit $2`

// Relies on: triggers_polled, then the primary keys.
const DUE_POLLS = `select ${DUE_COLUMNS} ${FROM_TRIGGERS}
  where is_ticking = 2 and next_at is not null and next_at <= $1 and name = any($3::text[])
  order by next_at, name limit $2`

const IN_FORCE = `join rota.versions on versions.trigger = triggers.name and versions.version = triggers.version`

// Relies on: primary keys.
const BY_NAME = each({
  sqlite: `select ${DUE_COLUMNS} from json_each($2) wanted
    cross join triggers on triggers.name = wanted.value ${IN_FORCE} order by wanted.key`,
  postgres: `select ${DUE_COLUMNS} from unnest($2::text[]) with ordinality wanted (wanted_name, place)
    join rota.triggers on triggers.name = wanted_name ${IN_FORCE} order by place`,
})

// Relies on: triggers_due.
const FIRST_LOOK = `select next_at from rota.triggers
  where is_ticking = 1 and next_at is not null order by next_at limit 1`

// Relies on: triggers_polled.
const FIRST_POLL = `select next_at from rota.triggers where is_ticking = 2 and next_at is not null
  and name = any($1::text[]) order by next_at limit 1`

// Relies on: holds_target.
const PLANNING_HOLDS = `select * from rota.holds where target = any($1::text[]) order by id`

interface DueRow extends TriggerRow {
  /** Its holds and its unfinished runs as JSON texts. */
  readonly holds: string | null
  readonly unfinished: string | null
}

/** The triggers whose next tick is due, the longest waiting first; none while planning is held. */
export function* due(
  session: Session,
  { now, limit, sensors }: { now: Instant; limit: number; sensors?: readonly string[] | undefined },
): Verb<DueTrigger[]> {
  // Called far more often than something is due, so the cheap query comes first.
  if (((yield* firstLook(session, sensors)) ?? Infinity) > now) return []
  const [holds, rows] = yield* session.sql.together(
    planningHolds(session),
    sensors === undefined
      ? session.sql.all<DueRow>(DUE, now, limit)
      : session.sql.all<DueRow>(DUE_POLLS, now, limit, sensors),
  )
  if (endsOf(holds, now).length > 0) return []
  return yield* dueTriggers(session, rows, { holds, now })
}

/** The named triggers as a tick sees them, due or not. */
export function* dueByName(
  session: Session,
  { names, now }: { names: readonly string[]; now: Instant },
): Verb<DueTrigger[]> {
  const [holds, rows] = yield* session.sql.together(
    planningHolds(session),
    session.sql.all<DueRow>(BY_NAME, now, names),
  )
  return yield* dueTriggers(session, rows, { holds, now })
}

/** The earliest next tick, or the end of the hold on planning if that is later. */
export function* nextTickAt(
  session: Session,
  {
    now,
    sensors,
  }: {
    now: Instant
    sensors?: readonly string[] | undefined
  },
): Verb<Instant | undefined> {
  const [holds, first] = yield* session.sql.together(planningHolds(session), firstLook(session, sensors))
  if (first === undefined) return undefined
  const at = Math.max(first, ...endsOf(holds, now))
  return at === Infinity ? undefined : at
}

function firstLook(session: Session, sensors: readonly string[] | undefined): Verb<Instant | undefined> {
  return sensors === undefined
    ? session.sql.value<Instant>(FIRST_LOOK)
    : session.sql.value<Instant>(FIRST_POLL, sensors)
}

function* dueTriggers(
  session: Session,
  rows: readonly DueRow[],
  { holds, now }: { holds: readonly Hold[]; now: Instant },
): Verb<DueTrigger[]> {
  if (rows.length === 0) return []
  const catalog = yield* session.catalog()
  return rows.map((row) => {
    const stored = storedTriggerOf(row)
    const touching = holds.filter(
      (hold) => hold.fromAt <= now && (hold.untilAt ?? Infinity) > stored.cursorAt,
    )
    const own = listOf<HoldRow>(row.holds)
    return {
      ...stored,
      jobDefinition: jobOf(catalog, stored.trigger.job),
      holds: own.length === 0 ? touching : [...touching, ...own.map(holdOf)].toSorted((a, b) => a.id - b.id),
      unfinished: unfinishedOf(row.unfinished),
    }
  })
}

/** A JSON list; most of them are empty. */
function listOf<Item>(text: string | null): readonly Item[] {
  return text === null || text === '[]' ? [] : (JSON.parse(text) as Item[])
}

function unfinishedOf(text: string | null): UnfinishedRun[] {
  return listOf<[string, number]>(text).map(([id, state]) => {
    return { id, state: state === running ? 'running' : 'pending' }
  })
}

function* planningHolds(session: Session): Verb<Hold[]> {
  return (yield* session.sql.all<HoldRow>(PLANNING_HOLDS, planningTargets)).map(holdOf)
}

/** When the holds that are in force end. */
function endsOf(holds: readonly Hold[], now: Instant): Instant[] {
  return holds.filter((hold) => holdsAt(hold, now)).map((hold) => hold.untilAt ?? Infinity)
}
