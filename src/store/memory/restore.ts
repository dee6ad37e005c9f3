/**
 * Puts rows that were kept elsewhere into the tables as they were written down, and replaces those that stand there.
 * Nothing is decided here: whoever wrote a row has decided.
 */
import { leaveGates, standAtGates } from './gates.js'
import { looksOf, startFollowing, stopFollowing } from './looks.js'
import { markFinal, markUnfinished, forgetRun, takeUnique } from './run-moves.js'
import {
  runsOfJob,
  runsOfTrigger,
  stateOf,
  type HoldRow,
  type RunRow,
  type Tables,
  type TriggerRow,
  type WorkerRow,
} from './tables.js'

/** Puts a run in, in place of the row that has its id. */
export function restoreRun(tables: Tables, row: RunRow): void {
  withdrawRun(tables, row.id)
  tables.runs.set(row.id, row)
  tables.runsById.add(row)
  if (row.trigger !== undefined) {
    const { all, own } = runsOfTrigger(tables, row.trigger)
    all.add(row)
    if (row.origin === 'trigger') own.add(row)
  }
  tables.counts[stateOf(row.phase)]++
  switch (row.phase) {
    case 'done':
    case 'failed':
    case 'cancelled':
      tables.final.add(row)
      if (row.uniqueUntil !== undefined) takeUnique(tables, row)
      return
    case 'delayed':
      tables.delayed.add(row)
      break
    case 'running':
      runsOfJob(tables, row.job).running++
      tables.workers.get(row.worker ?? '')?.running.add(row)
      standAtGates(tables, row)
      break
    case 'blocked':
    case 'ready':
      standAtGates(tables, row)
  }
  markUnfinished(tables, row)
}

/** Takes a run out as if it had never been. */
export function withdrawRun(tables: Tables, id: string): void {
  const row = tables.runs.get(id)
  if (row === undefined) return
  switch (row.phase) {
    case 'done':
    case 'failed':
    case 'cancelled':
      break
    case 'delayed':
      tables.delayed.delete(row)
      markFinal(tables, row)
      break
    case 'running':
      runsOfJob(tables, row.job).running--
      tables.workers.get(row.worker ?? '')?.running.delete(row)
      leaveGates(tables, row)
      markFinal(tables, row)
      break
    case 'blocked':
    case 'ready':
      leaveGates(tables, row)
      markFinal(tables, row)
  }
  forgetRun(tables, row)
}

/** Puts a trigger in, in place of the one that has its name. */
export function restoreTrigger(tables: Tables, row: TriggerRow): void {
  const known = tables.triggers.get(row.trigger.name)
  if (known !== undefined) {
    looksOf(tables, known).delete(known)
    stopFollowing(tables, known)
  }
  tables.triggers.set(row.trigger.name, row)
  if (row.active && row.trigger.enabled && row.nextAt !== undefined) looksOf(tables, row).add(row)
  startFollowing(tables, row)
}

/** Puts a worker in, in place of the one that has its id; what it holds stays with it. */
export function restoreWorker(tables: Tables, row: Omit<WorkerRow, 'running'>): void {
  const running = tables.workers.get(row.id)?.running ?? new Set<RunRow>()
  tables.workers.set(row.id, { ...row, running })
}

/** Puts a hold in, in place of the one that has its number. */
export function restoreHold(tables: Tables, row: HoldRow): void {
  const others = (tables.holds.get(row.target) ?? []).filter(({ id }) => id !== row.id)
  tables.holds.set(
    row.target,
    [...others, row].toSorted((a, b) => a.id - b.id),
  )
}
