import { holdsAt, planningTargets, type Hold } from '../../kernel/hold/hold.js'
import type { DueTrigger, UnfinishedRun } from '../../kernel/trigger/trigger.js'
import type { Instant } from '../../time/instant.js'
import { jobOf } from '../sql/catalog.js'
import { holdOf, type HoldRow } from '../sql/rows/run-rows.js'
import { done, running } from '../sql/rows/states.js'
import type { Session } from './session.js'
import { storedTriggerOf, TRIGGER_COLUMNS, type TriggerRow } from './trigger-rows.js'

/** The most unfinished runs that a tick is shown. */
const maxUnfinished = 100

// Relies on: holds_target, runs_unfinished. Both are asked for in the same statement as the trigger: one snapshot for all.
const DUE_COLUMNS = `json_array(${TRIGGER_COLUMNS}) as row,
  (select json_group_array(json_array(id, target, from_at, until_at, actor, note, catch_up)) from (
    select * from holds where target = 'trigger:' || triggers.name
      and from_at <= ?1 and (until_at is null or until_at > triggers.cursor_at) order by id)) as holds,
  (select json_group_array(json_array(id, state)) from (
    select id, state from runs where trigger = triggers.name and state < ${done} order by id limit ${maxUnfinished})) as unfinished`

// Relies on: triggers_due, then the primary keys.
const DUE = `select json_group_array(json_array(row, holds, unfinished)) from (
  select ${DUE_COLUMNS}
  from triggers join versions on versions.trigger = triggers.name and versions.version = triggers.version
  where is_ticking = 1 and next_at is not null and next_at <= ?1
  order by next_at, name limit ?2 + 0)`

// Relies on: triggers_polled, then the primary keys.
const DUE_POLLS = `select json_group_array(json_array(row, holds, unfinished)) from (
  select ${DUE_COLUMNS}
  from triggers join versions on versions.trigger = triggers.name and versions.version = triggers.version
  where is_ticking = 2 and next_at is not null and next_at <= ?1 and triggers.name in (select value from json_each(?3))
  order by next_at, name limit ?2 + 0)`

// Relies on: primary keys.
const BY_NAME = `select json_group_array(json_array(row, holds, unfinished)) from (
  select ${DUE_COLUMNS}
  from json_each(?2) wanted cross join triggers on triggers.name = wanted.value
  join versions on versions.trigger = triggers.name and versions.version = triggers.version
  order by wanted.key)`

// Relies on: triggers_due.
const FIRST_LOOK = `select next_at from triggers
  where is_ticking = 1 and next_at is not null order by next_at limit 1`

// Relies on: triggers_polled.
const FIRST_POLL = `select next_at from triggers where is_ticking = 2 and next_at is not null
  and name in (select value from json_each(?)) order by next_at limit 1`

// Relies on: holds_target.
const PLANNING_HOLDS = `select * from holds where target in (select value from json_each(?)) order by id`

type DueJson = [row: string, holds: string, unfinished: string]

/** The triggers whose next look has come, the longest waiting first; none while planning is held. */
export function due(
  session: Session,
  request: { now: Instant; limit: number; sensors?: readonly string[] | undefined },
): DueTrigger[] {
  const holds = planningHolds(session)
  if (endsOf(holds, request.now).length > 0) return []
  const { now, limit, sensors } = request
  const rows =
    sensors === undefined
      ? session.db.json<DueJson[]>(DUE, now, limit)
      : session.db.json<DueJson[]>(DUE_POLLS, now, limit, JSON.stringify(sensors))
  return dueTriggers(session, rows, { holds, now: request.now })
}

/** The named triggers as a tick sees them, due or not. */
export function dueByName(
  session: Session,
  request: { names: readonly string[]; now: Instant },
): DueTrigger[] {
  const rows = session.db.json<DueJson[]>(BY_NAME, request.now, JSON.stringify(request.names))
  return dueTriggers(session, rows, { holds: planningHolds(session), now: request.now })
}

/** The earliest look, or the end of the hold on planning where that is later. */
export function nextTickAt(
  session: Session,
  { now, sensors }: { now: Instant; sensors?: readonly string[] | undefined },
): Instant | undefined {
  const { db } = session
  const look = sensors === undefined ? db.value(FIRST_LOOK) : db.value(FIRST_POLL, JSON.stringify(sensors))
  const first = look as Instant | undefined
  if (first === undefined) return undefined
  const at = Math.max(first, ...endsOf(planningHolds(session), now))
  return at === Infinity ? undefined : at
}

function dueTriggers(
  session: Session,
  rows: readonly DueJson[],
  { holds, now }: { holds: readonly Hold[]; now: Instant },
): DueTrigger[] {
  if (rows.length === 0) return []
  const { catalogNow: catalog } = session
  return rows.map(([row, ownHolds, unfinished]) => {
    const stored = storedTriggerOf(JSON.parse(row) as TriggerRow)
    const touching = holds.filter(
      (hold) => hold.fromAt <= now && (hold.untilAt ?? Infinity) > stored.cursorAt,
    )
    return {
      ...stored,
      jobDefinition: jobOf(catalog, stored.trigger.job),
      holds: [...touching, ...ownHoldsOf(ownHolds)].toSorted((a, b) => a.id - b.id),
      unfinished: unfinishedOf(unfinished),
    }
  })
}

function ownHoldsOf(text: string): Hold[] {
  type Row = [number, string, number, number | null, string, string, number]
  return (JSON.parse(text) as Row[]).map(([id, target, from_at, until_at, actor, note, catch_up]) =>
    holdOf({ id, target, from_at, until_at, actor, note, catch_up }),
  )
}

function unfinishedOf(text: string): UnfinishedRun[] {
  return (JSON.parse(text) as [string, number][]).map(([id, state]) => {
    return { id, state: state === running ? 'running' : 'pending' }
  })
}

function planningHolds(session: Session): Hold[] {
  return session.db.all<HoldRow>(PLANNING_HOLDS, JSON.stringify(planningTargets)).map(holdOf)
}

/** When the holds that are in force end. */
function endsOf(holds: readonly Hold[], now: Instant): Instant[] {
  return holds.filter((hold) => holdsAt(hold, now)).map((hold) => hold.untilAt ?? Infinity)
}
