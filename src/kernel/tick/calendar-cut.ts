import type { Instant } from '../../time/instant.js'
import type { Schedule } from '../../time/schedule.js'
import { exclusionAt, type CalendarRules, type Exclusion } from '../calendar/calendar.js'
import type { LedgerRange } from '../ledger/ledger.js'
import type { DueTrigger } from '../trigger/trigger.js'
import { instantsWithin, type Stretch } from './hold-cut.js'

/**
 * Cuts clear stretches by the calendars and blackouts of the trigger. Returns the rest, and one ledger range for each
 * excluded stretch with a due instant in it. Neighbours with the same reason become one range, however many days they
 * cover, and an excluded stretch without a due instant splits nothing.
 */
export function cutCalendar(input: { due: DueTrigger; schedule: Schedule; clear: readonly Stretch[] }): {
  readonly clear: readonly Stretch[]
  readonly ranges: readonly LedgerRange[]
} {
  const { due, schedule } = input
  const { trigger, version } = due
  const rules = trigger.schedule.calendar
  if (rules === undefined) return { clear: input.clear, ranges: [] }
  const clear: Stretch[] = []
  const ranges: LedgerRange[] = []
  for (const stretch of input.clear) {
    for (const { by, after, until } of ruledStretches(rules, schedule, stretch)) {
      if (by === undefined) clear.push({ after, until })
      else
        ranges.push({
          trigger: trigger.name,
          version,
          ...(instantsWithin(schedule, { after, until }) as { firstAt: Instant; lastAt: Instant }),
          ...by,
        })
    }
  }
  return { clear, ranges }
}

interface Ruled extends Stretch {
  readonly by: Exclusion | undefined
}

/** The parts of a stretch with due instants, and the rule that excludes each, if any. Empty parts cost nothing. */
function ruledStretches(
  rules: CalendarRules,
  schedule: Schedule,
  { after, until }: Stretch,
): readonly Ruled[] {
  const parts: Ruled[] = []
  let at = schedule.next(after)
  while (at !== undefined && at <= until) {
    const { by, untilAt } = exclusionAt(rules, at)
    const last = parts.at(-1)
    const part = { by, after: at - 1, until: Math.min(untilAt - 1, until) }
    if (last !== undefined && isSame(last.by, by)) parts[parts.length - 1] = { ...part, after: last.after }
    else parts.push(part)
    at = schedule.next(part.until)
  }
  return parts
}

function isSame(one: Exclusion | undefined, other: Exclusion | undefined): boolean {
  return one?.rule === other?.rule && one?.detail === other?.detail
}
