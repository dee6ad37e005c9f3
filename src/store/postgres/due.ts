import { holdsAt, planningTargets, type Hold } from '../../kernel/hold/hold.js'
import { jobDefaults, type Job } from '../../kernel/job/job.js'
import type { DueTrigger, UnfinishedRun } from '../../kernel/trigger/trigger.js'
import type { Instant } from '../../time/instant.js'
import { holdOf, type HoldRow } from '../sql/rows/run-rows.js'
import { done, running } from '../sql/rows/states.js'
import type { Session } from './session.js'
import { FROM_TRIGGERS, storedTriggerOf, TRIGGER_COLUMNS, type TriggerRow } from './trigger-rows.js'

/** The most unfinished runs that a tick is shown. */
const maxUnfinished = 100

// Relies on: holds_target, runs_unfinished, the primary key of jobs. All are asked for in the same statement as the
// trigger: one snapshot for all.
const DUE_COLUMNS = `${TRIGGER_COLUMNS},
  (select definition from rota.jobs where name = triggers.job) as job_definition,
  (select json_agg(found) from (
    select * from rota.holds where target = 'trigger:' || triggers.name
      and from_at <= $1 and (until_at is null or until_at > triggers.cursor_at) order by id) found) as holds,
  (select json_agg(found) from (
    select id, state from rota.runs where trigger = triggers.name and state < ${done}
    order by id limit ${maxUnfinished}) found) as unfinished`

// Relies on: triggers_due, then the primary keys.
const DUE = `select ${DUE_COLUMNS} ${FROM_TRIGGERS}
  where is_ticking = 1 and next_at is not null and next_at <= $1 order by next_at, name limit $2`

// Relies on: triggers_polled, then the primary keys.
const DUE_POLLS = `select ${DUE_COLUMNS} ${FROM_TRIGGERS}
  where is_ticking = 2 and next_at is not null and next_at <= $1 and name = any($3::text[])
  order by next_at, name limit $2`

// Relies on: primary keys.
const BY_NAME = `select ${DUE_COLUMNS} from unnest($2::text[]) with ordinality wanted (wanted_name, place)
  join rota.triggers on triggers.name = wanted_name
  join rota.versions on versions.trigger = triggers.name and versions.version = triggers.version
  order by place`

// Relies on: triggers_due.
const FIRST_LOOK = `select next_at from rota.triggers
  where is_ticking = 1 and next_at is not null order by next_at limit 1`

// Relies on: triggers_polled.
const FIRST_POLL = `select next_at from rota.triggers where is_ticking = 2 and next_at is not null
  and name = any($1::text[]) order by next_at limit 1`

// Relies on: holds_target.
const PLANNING_HOLDS = `select * from rota.holds where target = any($1::text[]) order by id`

interface DueRow extends TriggerRow {
  readonly job_definition: string | null
  readonly holds: readonly HoldRow[] | null
  readonly unfinished: readonly { readonly id: string; readonly state: number }[] | null
}

/** The triggers whose next look has come, the longest waiting first; none while planning is held. */
export async function due(
  session: Session,
  request: { now: Instant; limit: number; sensors?: readonly string[] | undefined },
): Promise<DueTrigger[]> {
  const { db } = session
  const { now, limit, sensors } = request
  // Asked far more often than something is due: the question that costs little comes first.
  const first = (await firstLook(session, sensors)) ?? Infinity
  if (first > now) return []
  const [holds, rows] = await Promise.all([
    planningHolds(session),
    sensors === undefined ? db.all<DueRow>(DUE, now, limit) : db.all<DueRow>(DUE_POLLS, now, limit, sensors),
  ])
  if (endsOf(holds, now).length > 0) return []
  return rows.map((row) => dueTriggerOf(row, { holds, now }))
}

/** The named triggers as a tick sees them, due or not. */
export async function dueByName(
  session: Session,
  { names, now }: { names: readonly string[]; now: Instant },
): Promise<DueTrigger[]> {
  const [holds, rows] = await Promise.all([
    planningHolds(session),
    session.db.all<DueRow>(BY_NAME, now, names),
  ])
  return rows.map((row) => dueTriggerOf(row, { holds, now }))
}

/** The earliest look, or the end of the hold on planning where that is later. */
export async function nextTickAt(
  session: Session,
  { now, sensors }: { now: Instant; sensors?: readonly string[] | undefined },
): Promise<Instant | undefined> {
  const [holds, first] = await Promise.all([planningHolds(session), firstLook(session, sensors)])
  if (first === undefined) return undefined
  const at = Math.max(first, ...endsOf(holds, now))
  return at === Infinity ? undefined : at
}

async function firstLook(
  { db }: Session,
  sensors: readonly string[] | undefined,
): Promise<Instant | undefined> {
  const look = sensors === undefined ? await db.value(FIRST_LOOK) : await db.value(FIRST_POLL, sensors)
  return look as Instant | undefined
}

function dueTriggerOf(row: DueRow, { holds, now }: { holds: readonly Hold[]; now: Instant }): DueTrigger {
  const stored = storedTriggerOf(row)
  const touching = holds.filter((hold) => hold.fromAt <= now && (hold.untilAt ?? Infinity) > stored.cursorAt)
  const own = (row.holds ?? []).map(holdOf)
  return {
    ...stored,
    jobDefinition: jobIn(row, stored.trigger.job),
    holds: [...touching, ...own].toSorted((a, b) => a.id - b.id),
    unfinished: (row.unfinished ?? []).map(unfinishedOf),
  }
}

function jobIn({ job_definition }: DueRow, name: string): Job {
  return job_definition === null ? { ...jobDefaults, name } : (JSON.parse(job_definition) as Job)
}

function unfinishedOf({ id, state }: { id: string; state: number }): UnfinishedRun {
  return { id, state: state === running ? 'running' : 'pending' }
}

async function planningHolds(session: Session): Promise<Hold[]> {
  return (await session.db.all<HoldRow>(PLANNING_HOLDS, planningTargets)).map(holdOf)
}

/** When the holds that are in force end. */
function endsOf(holds: readonly Hold[], now: Instant): Instant[] {
  return holds.filter((hold) => holdsAt(hold, now)).map((hold) => hold.untilAt ?? Infinity)
}
