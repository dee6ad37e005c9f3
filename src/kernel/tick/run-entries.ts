import { pingChanges } from '../ping/ping.js'
import type { NewRun } from '../run/run.js'
import type { StateChange } from '../state/state-entry.js'
import type { Trigger } from '../trigger/trigger.js'

/** The entries that a tick writes with the runs it makes: their pings. Nothing where the trigger asks for none. */
export function runEntries(
  trigger: Trigger,
  runs: readonly NewRun[],
): { readonly stateChanges?: readonly StateChange[] } {
  return trigger.ping === undefined ? {} : { stateChanges: pingChanges(trigger, runs) }
}
