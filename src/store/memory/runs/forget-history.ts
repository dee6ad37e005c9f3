import type { Instant } from '../../../time/instant.js'
import { forgetRun } from '../run-moves.js'
import { dropRange, runsOfTrigger, type RunRow, type Tables } from '../tables.js'

/**
 * Removes old data that no decision needs, without a trace: final runs that ended before an instant, and ranges that
 * were recorded before it. For simulations, which need no history.
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

/** Other runs, such as cancelled ones, may be between the failed ones. */
const otherRuns = 10

/** Whether a run may count for the `pauseAfter` of its trigger. */
function mayCount(tables: Tables, { trigger }: RunRow): boolean {
  if (trigger === undefined) return false
  const pauseAfter = tables.triggers.get(trigger)?.trigger.pauseAfter
  return pauseAfter !== undefined && runsOfTrigger(tables, trigger).all.size <= pauseAfter + otherRuns
}
