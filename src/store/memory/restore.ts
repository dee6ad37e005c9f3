/**
 * Inserts rows that another store wrote, unchanged, and replaces existing ones.
 * Nothing is decided here: the store that wrote a row has made the decisions.
 */
import { isFinal } from '../../kernel/run/run.js'
import { leaveSlots, restoreSlots } from './concurrency-slots.js'
import { nextTickIndex, startFollowing, stopFollowing } from './next-tick.js'
import { forgetRun, indexRun, markFinal, markUnfinished, takeUnique } from './run-moves.js'
import {
  runsOfJob,
  stateOf,
  type HoldRow,
  type RunRow,
  type Tables,
  type TriggerRow,
  type WorkerRow,
} from './tables.js'

/** Inserts a run, replacing the row with the same id. */
export function restoreRun(tables: Tables, row: RunRow): void {
  withdrawRun(tables, row.id)
  indexRun(tables, row)
  if (isFinal(stateOf(row.phase))) {
    tables.final.add(row)
    if (row.uniqueUntil !== undefined) takeUnique(tables, row)
    return
  }
  if (row.phase === 'delayed') tables.delayed.add(row)
  else restoreSlots(tables, row)
  if (row.phase === 'running') {
    runsOfJob(tables, row.job).running++
    tables.workers.get(row.worker ?? '')?.running.add(row)
  }
  markUnfinished(tables, row)
}

/** Removes a run as if it had never existed. */
export function withdrawRun(tables: Tables, id: string): void {
  const row = tables.runs.get(id)
  if (row === undefined) return
  if (!isFinal(stateOf(row.phase))) {
    if (row.phase === 'delayed') tables.delayed.delete(row)
    else leaveSlots(tables, row)
    if (row.phase === 'running') {
      runsOfJob(tables, row.job).running--
      tables.workers.get(row.worker ?? '')?.running.delete(row)
    }
    markFinal(tables, row)
  }
  forgetRun(tables, row)
}

/** Inserts a trigger, replacing the one with the same name. */
export function restoreTrigger(tables: Tables, row: TriggerRow): void {
  const known = tables.triggers.get(row.trigger.name)
  if (known !== undefined) {
    nextTickIndex(tables, known).delete(known)
    stopFollowing(tables, known)
  }
  tables.triggers.set(row.trigger.name, row)
  if (row.active && row.trigger.enabled && row.nextAt !== undefined) nextTickIndex(tables, row).add(row)
  startFollowing(tables, row)
}

/** Inserts a worker, replacing the one with the same id; its running runs stay with it. */
export function restoreWorker(tables: Tables, row: Omit<WorkerRow, 'running'>): void {
  const running = tables.workers.get(row.id)?.running ?? new Set<RunRow>()
  tables.workers.set(row.id, { ...row, running })
}

/** Inserts a hold, replacing the one with the same id. */
export function restoreHold(tables: Tables, row: HoldRow): void {
  const others = (tables.holds.get(row.target) ?? []).filter(({ id }) => id !== row.id)
  tables.holds.set(
    row.target,
    [...others, row].toSorted((a, b) => a.id - b.id),
  )
}
