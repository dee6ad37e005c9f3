import { holdsAt, type Hold, type HoldTarget } from '../../kernel/hold/hold.js'
import { chainMsOf } from '../../kernel/trigger/trigger.js'
import type { Instant } from '../../time/instant.js'
import type { Holding } from '../port.js'
import { setNextTick } from './next-tick.js'
import { getOrAdd, type HoldRow, type Tables, type TriggerRow } from './tables.js'

type HoldRequest = Parameters<Holding['hold']>[0]
type ReleaseRequest = Parameters<Holding['release']>[0]

/** Opens a hold on a target that has no open one. */
export function hold(tables: Tables, request: HoldRequest): 'held' | 'already' {
  const { target, now, untilAt, actor, note } = request
  if (openHold(tables, target, now) !== undefined) return 'already'
  const open = { catchUp: false, isReleased: false }
  const row = { id: ++tables.lastHold, target, fromAt: now, untilAt, actor, note, ...open }
  getOrAdd(tables.holds, target, () => []).push(row)
  tables.touched?.holds.add(row)
  const trigger = triggerOf(tables, target)
  if (trigger !== undefined) pauseTrigger(tables, trigger, untilAt)
  return 'held'
}

/** Ends the open hold of a target; a trigger is evaluated again immediately. */
export function release(tables: Tables, request: ReleaseRequest): 'released' | 'absent' {
  const { target, now, catchUp } = request
  const open = openHold(tables, target, now)
  if (open === undefined) return 'absent'
  open.untilAt = now
  open.catchUp = catchUp
  open.isReleased = true
  tables.touched?.holds.add(open)
  const trigger = triggerOf(tables, target)
  if (trigger !== undefined) resumeTrigger(tables, trigger, now)
  return 'released'
}

/** Whether a hold on one of the targets is in force. */
export function isHeld(tables: Tables, targets: readonly HoldTarget[], at: Instant): boolean {
  return targets.some((target) => holdsOn(tables, target).some((row) => holdsAt(row, at)))
}

/** When the first hold on one of the targets ends that is in force now; undefined where none of them has an end. */
export function heldUntil(tables: Tables, targets: Iterable<HoldTarget>, now: Instant): Instant | undefined {
  let first = Infinity
  for (const target of targets)
    for (const row of holdsOn(tables, target))
      if (holdsAt(row, now)) first = Math.min(first, row.untilAt ?? Infinity)
  return first === Infinity ? undefined : first
}

/** The holds on a target, oldest first. */
export function holdsOn(tables: Tables, target: HoldTarget): readonly HoldRow[] {
  return tables.holds.get(target) ?? []
}

/** Converts a row to the hold that the port returns. */
export function toHold({ isReleased: _isReleased, ...hold }: HoldRow): Hold {
  return hold
}

function openHold(tables: Tables, target: HoldTarget, now: Instant): HoldRow | undefined {
  return holdsOn(tables, target).find((row) => row.untilAt === undefined || row.untilAt > now)
}

function triggerOf(tables: Tables, target: HoldTarget): TriggerRow | undefined {
  const row = target.startsWith('trigger:') ? tables.triggers.get(target.slice('trigger:'.length)) : undefined
  return row?.active === true ? row : undefined
}

function pauseTrigger(tables: Tables, row: TriggerRow, untilAt: Instant | undefined): void {
  row.revision++
  if (chainMsOf(row.trigger.schedule) === undefined) {
    setNextTick(tables, row, untilAt)
    return
  }
  // Its due instant cannot be computed again, so it is kept; while a run is unfinished there is none.
  row.keptAt = row.nextAt
  const hasEnd = row.keptAt !== undefined && untilAt !== undefined
  setNextTick(tables, row, hasEnd ? Math.max(untilAt, row.keptAt as Instant) : undefined)
}

function resumeTrigger(tables: Tables, row: TriggerRow, now: Instant): void {
  row.revision++
  const { keptAt } = row
  row.keptAt = undefined
  if (chainMsOf(row.trigger.schedule) === undefined) {
    setNextTick(tables, row, now)
    return
  }
  // Without a due instant and without an unfinished run that would set one, the trigger would never run again.
  const effect = tables.runs.get(row.chainRun ?? '')?.endEffect
  const isOwed = tables.endEffects.get(effect ?? '')?.isChain === true
  setNextTick(tables, row, keptAt ?? row.nextAt ?? (isOwed ? undefined : now))
}
