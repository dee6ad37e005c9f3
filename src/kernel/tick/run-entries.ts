import { pingChanges } from '../ping/ping.js'
import type { NewRun } from '../run/run.js'
import type { StateChange } from '../state/state-entry.js'
import type { Trigger } from '../trigger/trigger.js'

/** The entries that a tick writes with its runs: their pings, if the trigger has any. */
export function runEntries(
  trigger: Trigger,
  runs: readonly NewRun[],
): { readonly stateChanges?: readonly StateChange[] } {
  return trigger.ping === undefined ? {} : { stateChanges: pingChanges(trigger, runs) }
}
