import type { Hold, HoldTarget } from '../../../kernel/hold/hold.js'
import type { Instant } from '../../../time/instant.js'
import type { Holding } from '../../port.js'
import { chainCodeList, holdOf, type HoldRow } from '../rows/run-rows.js'
import type { Session } from '../session.js'
import type { Verb } from '../verb.js'
import { markLimitsChanged } from '../meta.js'

type HoldRequest = Parameters<Holding['hold']>[0]
type ReleaseRequest = Parameters<Holding['release']>[0]

// Relies on: holds_target. Exclusive access closes the race of two holds on one target.
const OPEN_HOLD = `select id from rota.holds where target = $1 and (until_at is null or until_at > $2)
  order by id limit 1`

const HOLD = `insert into rota.holds (id, target, from_at, until_at, actor, note)
  select coalesce(max(id), 0) + 1, $1, $2::int8, $3::int8, $4, $5 from rota.holds`

const RELEASE = `update rota.holds set until_at = $1, catch_up = $2, is_released = 1 where id = $3`

// Relies on: primary key. The revision increases, so a tick computed before is stale. The due instant of an
// after-finish trigger cannot be computed again, so it is kept; while its run is unfinished it has none.
const PAUSE = `update rota.triggers set
    revision = revision + 1,
    kept_at = case when chain_ms is not null then next_at end,
    next_at = case
      when chain_ms is null then $1::int8
      when $1::int8 is null or next_at is null then null
      else greatest($1::int8, next_at)
    end
  where name = $2 and is_active = 1`

const RESUME = `update rota.triggers set
    revision = revision + 1,
    kept_at = null,
    next_at = case
      when chain_ms is null then $1::int8
      when coalesce(kept_at, next_at) is not null then coalesce(kept_at, next_at)
      when exists (select 1 from rota.runs where id = triggers.chain_run and follow in (${chainCodeList})) then null
      else $1::int8
    end
  where name = $2 and is_active = 1`

// Relies on: the primary key.
const HOLDS = `select * from rota.holds where $1::int8 is null or until_at is null or until_at > $1::int8
  order by id desc`

// Relies on: holds_target.
const HOLDS_ON = `select * from rota.holds
  where target = $2 and ($1::int8 is null or until_at is null or until_at > $1::int8) order by id desc`

/** Opens a hold on a target that has no open one; a trigger stops ticking with it. */
export function* hold(session: Session, request: HoldRequest): Verb<'held' | 'already'> {
  session.beExclusive()
  const { target, now, untilAt = null, actor, note } = request
  if ((yield* session.sql.value(OPEN_HOLD, target, now)) !== undefined) return 'already'
  yield* session.sql.change(HOLD, target, now, untilAt, actor, note)
  yield* markLimitsChanged(session)
  const trigger = triggerIn(target)
  if (trigger !== undefined) yield* session.sql.change(PAUSE, untilAt, trigger)
  return 'held'
}

/** Ends the open hold of a target; a trigger is planned immediately. */
export function* release(session: Session, request: ReleaseRequest): Verb<'released' | 'absent'> {
  session.beExclusive()
  const { target, now, catchUp } = request
  const open = yield* session.sql.value(OPEN_HOLD, target, now)
  if (open === undefined) return 'absent'
  yield* session.sql.change(RELEASE, now, catchUp ? 1 : 0, open)
  yield* markLimitsChanged(session)
  const trigger = triggerIn(target)
  if (trigger !== undefined) yield* session.sql.change(RESUME, now, trigger)
  return 'released'
}

/** Holds, newest first. */
export function* holds(
  session: Session,
  filter: { target?: HoldTarget | undefined; openAt?: Instant },
): Verb<Hold[]> {
  const { target, openAt = null } = filter
  const rows =
    target === undefined
      ? yield* session.sql.all<HoldRow>(HOLDS, openAt)
      : yield* session.sql.all<HoldRow>(HOLDS_ON, openAt, target)
  return rows.map(holdOf)
}

function triggerIn(target: HoldTarget): string | undefined {
  return target.startsWith('trigger:') ? target.slice('trigger:'.length) : undefined
}
