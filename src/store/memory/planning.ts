import { holdsAt, planningTargets, type Hold, type HoldTarget } from '../../kernel/hold/hold.js'
import { removedReason } from '../../kernel/run/run.js'
import type { Tick } from '../../kernel/tick/tick.js'
import type { DueTrigger, StoredTrigger, UnfinishedRun } from '../../kernel/trigger/trigger.js'
import type { Instant } from '../../time/instant.js'
import { holdsOn, isHeld, toHold } from './holds.js'
import { setNextTick } from './next-tick.js'
import { areCurrent, remember, stateEntries, writeStateEntry } from './state.js'
import { insertRun, makeFinal } from './run-moves.js'
import {
  addRange,
  jobOf,
  noteTime,
  runsOfTrigger,
  type RunRow,
  type Tables,
  type TriggerRow,
} from './tables.js'
import { closeAttempt, requestCancel, notifyWorker } from './work.js'

/** A tick sees at most this many unfinished runs. */
const maxUnfinished = 100

/** The triggers, or the named sensors, whose next tick is due, longest waiting first. */
export function due(
  tables: Tables,
  request: { now: Instant; limit: number; sensors?: readonly string[] | undefined },
): DueTrigger[] {
  const { now, limit } = request
  if ((firstWaiting(tables, request.sensors)?.nextAt ?? Infinity) > now) return []
  if (isHeld(tables, planningTargets, now)) return []
  const found: DueTrigger[] = []
  for (const row of waiting(tables, request.sensors)) {
    if (found.length >= limit || (row.nextAt as Instant) > now) break
    found.push(toDue(tables, row, now))
  }
  return found
}

/** The named triggers as a tick sees them. */
export function dueByName(tables: Tables, request: { names: readonly string[]; now: Instant }): DueTrigger[] {
  return request.names.flatMap((name) => {
    const row = tables.triggers.get(name)
    return row === undefined ? [] : [toDue(tables, row, request.now)]
  })
}

/** Commits one tick, or writes nothing if the trigger has changed. */
export function tick(tables: Tables, item: Tick): 'ticked' | 'stale' {
  const row = tables.triggers.get(item.trigger)
  if (row === undefined || !row.active || row.revision !== item.revision) return 'stale'
  if (!areCurrent(tables, item.stateChanges ?? [])) return 'stale'
  row.revision++
  row.keptAt = undefined
  row.cursorAt = item.cursorAt
  setNextTick(tables, row, item.nextAt)
  writeTick(tables, row, item)
  const isLeft = item.takesArrivals === true && row.nextAt === undefined && hasArrival(tables, item.trigger)
  if (isLeft) setNextTick(tables, row, item.at)
  return 'ticked'
}

function hasArrival(tables: Tables, trigger: string): boolean {
  const [first] = stateEntries(tables, { kind: 'arrival', after: { name: trigger, item: '' }, limit: 1 })
  return first?.name === trigger
}

/** Writes the result of a tick: its runs, its ranges, and what its newest run does to older ones. */
export function writeTick(tables: Tables, row: TriggerRow, item: Tick): void {
  noteTime(tables, item.at)
  if (item.chainRun !== undefined) row.chainRun = item.chainRun
  for (const run of item.runs) insertRun(tables, run, item.at)
  for (const range of item.ranges) addRange(tables, { ...range, recordedAt: item.at, seq: ++tables.lastSeq })
  for (const change of item.stateChanges ?? []) writeStateEntry(tables, change, item.at)
  for (const key of item.seen ?? []) remember(tables, item.trigger, key)
  if (item.supersede !== undefined) supersede(tables, item)
}

/** The earliest next tick, or the end of a hold on planning if that is later. */
export function nextTickAt(
  tables: Tables,
  request: { now: Instant; sensors?: readonly string[] | undefined },
): Instant | undefined {
  const { now } = request
  let at = firstWaiting(tables, request.sensors)?.nextAt
  if (at === undefined) return undefined
  for (const target of planningTargets) {
    for (const row of holdsOn(tables, target))
      if (holdsAt(row, now)) at = Math.max(at, row.untilAt ?? Infinity)
  }
  return at === Infinity ? undefined : at
}

function firstWaiting(tables: Tables, sensors: readonly string[] | undefined): TriggerRow | undefined {
  if (sensors === undefined) return tables.byNextTick.first
  const own = new Set(sensors)
  return tables.sensorsByNextTick.find((row) => own.has(row.trigger.name))
}

function waiting(tables: Tables, sensors: readonly string[] | undefined): Iterable<TriggerRow> {
  if (sensors === undefined) return tables.byNextTick
  const own = new Set(sensors)
  return [...tables.sensorsByNextTick].filter((row) => own.has(row.trigger.name))
}

/** Converts a row to the trigger that the port returns. */
export function toStored(row: TriggerRow): StoredTrigger {
  const { trigger, source, version, revision, definedAt, cursorAt, nextAt, chainRun, active } = row
  return { trigger, source, version, revision, definedAt, cursorAt, nextAt, chainRun, active }
}

/** Without a spread, which would cost more than the rest; each tick begins here. */
function toDue(tables: Tables, row: TriggerRow, now: Instant): DueTrigger {
  return {
    trigger: row.trigger,
    source: row.source,
    version: row.version,
    revision: row.revision,
    definedAt: row.definedAt,
    cursorAt: row.cursorAt,
    nextAt: row.nextAt,
    chainRun: row.chainRun,
    active: row.active,
    jobDefinition: jobOf(tables, row.trigger.job),
    holds: holdsSince(tables, row, now),
    unfinished: unfinishedOf(tables, row.trigger.name),
  }
}

function holdsSince(tables: Tables, row: TriggerRow, now: Instant): Hold[] {
  if (tables.holds.size === 0) return []
  const targets: HoldTarget[] = [`trigger:${row.trigger.name}`, ...planningTargets]
  const touching = targets.flatMap((target) =>
    holdsOn(tables, target).filter(
      ({ fromAt, untilAt }) => fromAt <= now && (untilAt ?? Infinity) > row.cursorAt,
    ),
  )
  return touching.toSorted((a, b) => a.id - b.id).map(toHold)
}

function unfinishedOf(tables: Tables, trigger: string): UnfinishedRun[] {
  const found: UnfinishedRun[] = []
  for (const run of runsOfTrigger(tables, trigger).unfinished) {
    if (found.length >= maxUnfinished) break
    // A backfill changes nothing about what is due now.
    if (run.origin === 'backfill') continue
    found.push({ id: run.id, state: run.phase === 'running' ? 'running' : 'pending' })
  }
  return found
}

function supersede(tables: Tables, item: Tick): void {
  if (item.supersede === undefined) return
  const { mode, by } = item.supersede
  const reason = `superseded by ${by}`
  const own = new Set(item.runs.map((run) => run.id))
  const unfinished = [...runsOfTrigger(tables, item.trigger).unfinished]
  for (const row of unfinished) {
    if (own.has(row.id) || row.origin === 'backfill') continue
    if (row.phase !== 'running') makeFinal(tables, row, { state: 'cancelled', at: item.at, reason })
    else if (mode === 'cancel') requestCancel(tables, row, reason)
    else terminate(tables, row, { at: item.at, reason })
  }
}

/** Closes a claim immediately: its worker gets a notice to stop, and a later result is refused. */
function terminate(tables: Tables, row: RunRow, end: { at: Instant; reason: string }): void {
  notifyWorker(tables, row, 'terminate')
  closeAttempt(row, { end: 'cancelled', error: undefined, startedAt: undefined, endedAt: end.at })
  makeFinal(tables, row, { state: 'cancelled', ...end })
}

/** Cancels the pending runs of a trigger; a running one may finish but is not retried. */
export function cancelPending(tables: Tables, trigger: string, at: Instant): void {
  const unfinished = [...runsOfTrigger(tables, trigger).unfinished]
  for (const row of unfinished) {
    if (row.phase !== 'running') makeFinal(tables, row, { state: 'cancelled', at, reason: removedReason })
    else if (!row.cancelRequested) {
      row.cancelRequested = true
      row.reason = removedReason
      tables.touched?.runs.add(row)
    }
  }
}
