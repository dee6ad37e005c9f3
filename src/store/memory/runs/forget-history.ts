import type { Instant } from '../../../time/instant.js'
import { forgetRun } from '../run-moves.js'
import { dropRange, runsOfTrigger, type RunRow, type Tables } from '../tables.js'

/**
 * Removes what no decision needs any more, without a trace: final runs that ended before an instant, and ranges that were
 * recorded before it. For simulations, where nobody asks what happened long ago.
 */
export function forgetHistory(tables: Tables, before: Instant): void {
  const over: RunRow[] = []
  for (const row of tables.final) {
    if ((row.finishedAt as Instant) >= before) break
    over.push(row)
  }
  for (const row of over) if (!mayCount(tables, row)) forgetRun(tables, row)
  for (const { ranges } of tables.runsByTrigger.values()) {
    if (ranges.size === 0) continue
    const old = [...ranges].filter(({ recordedAt }) => recordedAt < before)
    for (const range of old) dropRange(tables, range)
  }
}

/** Runs that did not fail, such as cancelled ones, may lie between those that did. */
const besideFailed = 10

/** Whether a run is among the newest of a trigger that is paused after so many failures in a row. */
function mayCount(tables: Tables, { trigger }: RunRow): boolean {
  if (trigger === undefined) return false
  const pauseAfter = tables.triggers.get(trigger)?.trigger.pauseAfter
  return pauseAfter !== undefined && runsOfTrigger(tables, trigger).all.size <= pauseAfter + besideFailed
}
