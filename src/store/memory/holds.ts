import { holdsAt, type Hold, type HoldTarget } from '../../kernel/hold/hold.js'
import { chainEffect } from '../../kernel/run/end-effect.js'
import type { Instant } from '../../time/instant.js'
import type { Holding } from '../port.js'
import { moveLook } from './looks.js'
import type { HoldRow, Tables, TriggerRow } from './tables.js'

type HoldRequest = Parameters<Holding['hold']>[0]
type ReleaseRequest = Parameters<Holding['release']>[0]

/** Opens a hold on a target that has no open one. */
export function hold(tables: Tables, request: HoldRequest): 'held' | 'already' {
  const { target, now, untilAt, actor, note } = request
  if (openHold(tables, target, now) !== undefined) return 'already'
  const row = {
    id: ++tables.lastHold,
    target,
    fromAt: now,
    untilAt,
    actor,
    note,
    catchUp: false,
    isReleased: false,
  }
  const known = tables.holds.get(target)
  if (known === undefined) tables.holds.set(target, [row])
  else known.push(row)
  tables.touched?.holds.add(row)
  const trigger = triggerOf(tables, target)
  if (trigger !== undefined) pauseTrigger(tables, trigger, untilAt)
  return 'held'
}

/** Ends the open hold of a target; a trigger is looked at again at once. */
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

/** The holds on a target, oldest first. */
export function holdsOn(tables: Tables, target: HoldTarget): readonly HoldRow[] {
  return tables.holds.get(target) ?? []
}

/** A hold as the world sees it. */
export function toHold({ id, target, fromAt, untilAt, actor, note, catchUp }: HoldRow): Hold {
  return { id, target, fromAt, untilAt, actor, note, catchUp }
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
  if (row.trigger.schedule.kind !== 'after-finish') {
    moveLook(tables, row, untilAt)
    return
  }
  // Its due instant is a fact that nothing could work out again; while a run is under way it has none.
  row.keptAt = row.nextAt
  const hasEnd = row.keptAt !== undefined && untilAt !== undefined
  moveLook(tables, row, hasEnd ? Math.max(untilAt, row.keptAt as Instant) : undefined)
}

function resumeTrigger(tables: Tables, row: TriggerRow, now: Instant): void {
  row.revision++
  const { keptAt } = row
  row.keptAt = undefined
  if (row.trigger.schedule.kind !== 'after-finish') {
    moveLook(tables, row, now)
    return
  }
  // Without a due instant and without a run that owes one the chain would never go on.
  const isOwed = tables.runs.get(row.chainRun ?? '')?.endEffect === chainEffect.name
  moveLook(tables, row, keptAt ?? row.nextAt ?? (isOwed ? undefined : now))
}
