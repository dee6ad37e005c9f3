import type { Hold, HoldTarget } from '../../kernel/hold/hold.js'
import type { Instant } from '../../time/instant.js'
import type { Holding } from '../port.js'
import { chainCode, holdOf, type HoldRow } from '../sql/rows.js'
import { markLimitsChanged } from './meta.js'
import type { Session } from './session.js'

type HoldRequest = Parameters<Holding['hold']>[0]
type ReleaseRequest = Parameters<Holding['release']>[0]

// Relies on: holds_target. The write lock closes the race of two who hold the same target.
const OPEN_HOLD = `select id from holds where target = ? and (until_at is null or until_at > ?) order by id limit 1`

const HOLD = `insert into holds (target, from_at, until_at, actor, note) values (?, ?, ?, ?, ?)`

const RELEASE = `update holds set until_at = ?, catch_up = ?, is_released = 1 where id = ?`

// Relies on: primary key. The revision rises, so a tick computed before finds itself stale. The due instant of an
// after-finish trigger is a fact that nothing could work out again, so it is kept; while a run is under way it has none.
const PAUSE = `update triggers set
    revision = revision + 1,
    kept_at = case when chain_ms is not null then next_at end,
    next_at = case when chain_ms is null then ?1 else max(?1, next_at) end
  where name = ?2 and is_active = 1`

const RESUME = `update triggers set
    revision = revision + 1,
    kept_at = null,
    next_at = case
      when chain_ms is null then ?1
      when coalesce(kept_at, next_at) is not null then coalesce(kept_at, next_at)
      when exists (select 1 from runs where id = triggers.chain_run and follow = ${chainCode}) then null
      else ?1
    end
  where name = ?2 and is_active = 1`

// Relies on: holds_target, or the primary key where no target is given.
const HOLDS = `select * from holds where (?2 is null or until_at is null or until_at > ?2) and ?1 is null order by id desc`

const HOLDS_ON = `select * from holds where target = ?1 and (?2 is null or until_at is null or until_at > ?2)
  order by id desc`

/** Opens a hold on a target that has no open one; a trigger stops ticking with it. */
export function hold(session: Session, request: HoldRequest): 'held' | 'already' {
  const { target, now, untilAt = null, actor, note } = request
  const { db } = session
  if (db.value(OPEN_HOLD, target, now) !== undefined) return 'already'
  db.change(HOLD, target, now, untilAt, actor, note)
  markLimitsChanged(session)
  const trigger = triggerIn(target)
  if (trigger !== undefined) db.change(PAUSE, untilAt, trigger)
  return 'held'
}

/** Ends the open hold of a target; a trigger is looked at again at once. */
export function release(session: Session, request: ReleaseRequest): 'released' | 'absent' {
  const { target, now, catchUp } = request
  const { db } = session
  const open = db.value(OPEN_HOLD, target, now)
  if (open === undefined) return 'absent'
  db.change(RELEASE, now, catchUp ? 1 : 0, open)
  markLimitsChanged(session)
  const trigger = triggerIn(target)
  if (trigger !== undefined) db.change(RESUME, now, trigger)
  return 'released'
}

/** Holds, newest first. */
export function holds(session: Session, filter: { target?: HoldTarget; openAt?: Instant }): Hold[] {
  const { target = null, openAt = null } = filter
  const sql = target === null ? HOLDS : HOLDS_ON
  return session.db.all<HoldRow>(sql, target, openAt).map(holdOf)
}

function triggerIn(target: HoldTarget): string | undefined {
  return target.startsWith('trigger:') ? target.slice('trigger:'.length) : undefined
}
