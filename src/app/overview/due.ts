import { kindOf, type TriggerKinds } from '../../engine/trigger-kind.js'
import { exclusionAt, type Exclusion } from '../../kernel/calendar/calendar.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import { explainOccurrence, type ClockChangeNote } from '../../time/cron/explain.js'
import { cronSchedule } from '../../time/cron/schedule.js'
import type { Instant } from '../../time/instant.js'

/** The unplanned instants of a trigger after `afterAt`, up to `untilAt`. */
export function* instantsToCome(
  kinds: TriggerKinds,
  stored: StoredTrigger,
  { afterAt, untilAt }: { readonly afterAt: Instant; readonly untilAt: Instant },
): Generator<Instant> {
  const { trigger, active, cursorAt, nextAt } = stored
  if (!active || !trigger.enabled) return
  const kind = kindOf(kinds, trigger)
  if (kind.isChain === true) {
    if (nextAt !== undefined && nextAt > afterAt && nextAt <= untilAt) yield nextAt
    return
  }
  const schedule = kind.instants(trigger)
  let at = schedule?.next(Math.max(afterAt, cursorAt))
  while (at !== undefined && at <= untilAt) {
    yield at
    at = schedule?.next(at)
  }
}

/** Returns the function that finds the rule that excludes a future instant of a trigger. */
export function exclusions({ trigger }: StoredTrigger): (at: Instant) => Exclusion | undefined {
  const { calendar } = trigger.schedule
  return calendar === undefined ? () => undefined : (at) => exclusionAt(calendar, at).by
}

/** Returns the function that finds the effect of clock changes on an instant of a trigger. */
export function clockChanges({ trigger }: StoredTrigger): (at: Instant) => ClockChangeNote | undefined {
  const { schedule } = trigger
  if (schedule.kind !== 'cron') return () => undefined
  const { expression, timezone, dst } = schedule
  const cron = cronSchedule(expression, { timezone, dst })
  return (at) => explainOccurrence(cron, at)
}
