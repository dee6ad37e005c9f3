import { failureNotice, watchKey } from '../../kernel/alert/notice.js'
import { withoutChain, type EndedRun, type EndEffect } from '../../kernel/run/end-effect.js'
import type { FinalState } from '../../kernel/run/run.js'
import { chainMsOf } from '../../kernel/trigger/trigger.js'
import type { Instant } from '../../time/instant.js'
import { setNextTick } from './next-tick.js'
import { stateEntryAt, writeStateEntry } from './state.js'
import { stateOf, type RunRow, type Tables, type TriggerRow } from './tables.js'

/** Applies the end effect of a run. */
export function applyEndEffect(tables: Tables, row: RunRow): void {
  const effect = tables.endEffects.get(row.endEffect ?? '')
  if (effect?.isChain === true) continueChain(tables, row)
  if (effect !== undefined) apply(tables, effect, endedRun(row))
}

/** Writes the notice of a run that finally failed, if its kind is watched. */
export function noteFailure(tables: Tables, row: RunRow): void {
  const ended = endedRun(row)
  const notice = failureNotice(ended, stateEntryAt(tables, watchKey)?.value)
  if (notice !== undefined) writeStateEntry(tables, notice, ended.at)
}

/** A final run in the form that end effects need. */
export function endedRun(row: RunRow): EndedRun {
  const { id, job, trigger, partition, dueAt, startedAt, error, reason } = row
  const state = stateOf(row.phase) as FinalState
  const at = row.finishedAt as Instant
  return { id, job, trigger, partition, dueAt, startedAt, error, reason, state, at }
}

function apply(tables: Tables, { reads, changes, wakesTrigger, arrival }: EndEffect, run: EndedRun): void {
  const values = (reads?.(run) ?? []).map((key) => stateEntryAt(tables, key)?.value)
  for (const change of changes?.(run, values) ?? []) writeStateEntry(tables, change, run.at)
  const own = tables.triggers.get(run.trigger ?? '')
  if (wakesTrigger === true && own?.active === true) lookAt(tables, own, run.at)
  const entry = arrival?.(run)
  if (entry === undefined) return
  for (const follower of tables.followers.get(run.job) ?? []) {
    writeStateEntry(tables, { ...entry, name: follower.trigger.name }, run.at)
    // The revision stays: with a steady stream of arrivals every tick would be stale.
    setNextTick(tables, follower, Math.min(run.at, follower.nextAt ?? run.at))
  }
}

/** Makes the trigger due, and makes a tick computed before this end stale. */
function lookAt(tables: Tables, row: TriggerRow, at: Instant): void {
  row.revision++
  setNextTick(tables, row, Math.min(at, row.nextAt ?? at))
}

/** Only the first end of a run continues its chain; a run that was retried does not do it again. */
function continueChain(tables: Tables, row: RunRow): void {
  row.endEffect = withoutChain(row.endEffect ?? '')
  const trigger = tables.triggers.get(row.trigger ?? '')
  if (trigger?.active !== true || trigger.chainRun !== row.id) return
  const chainMs = chainMsOf(trigger.trigger.schedule)
  if (chainMs === undefined) return
  trigger.revision++
  setNextTick(tables, trigger, (row.finishedAt as Instant) + chainMs)
}
