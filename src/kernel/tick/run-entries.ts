import { pingChanges } from '../ping/ping.js'
import type { NewRun } from '../run/run.js'
import { deadlineChanges } from '../sla/sla.js'
import type { StateChange } from '../state/state-entry.js'
import type { Trigger } from '../trigger/trigger.js'

/** The entries that a tick writes with the runs it makes: their deadlines, and their pings. Nothing where the trigger asks for none. */
export function runEntries(
  trigger: Trigger,
  runs: readonly NewRun[],
): { readonly stateChanges?: readonly StateChange[] } {
  if (trigger.sla === undefined && trigger.ping === undefined) return {}
  return { stateChanges: [...deadlineChanges(trigger, runs), ...pingChanges(trigger, runs)] }
}
