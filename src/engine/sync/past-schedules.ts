import { cronSchedule } from '../../time/cron/schedule.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { fault, type PlacedFault, placeOf, within } from '../../kernel/definition/faults.js'
import type { CronSpec, ScheduleSpec } from '../../kernel/trigger/schedule.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'

/**
 * The faults of new schedules whose last year is over: they would never run, without a message. A trigger that already
 * has the schedule is accepted, so that a program still starts after the last year of one of its schedules.
 */
export async function pastSchedules(
  store: Store,
  triggers: readonly Trigger[],
  now: Instant,
  /** The section of a config that defines a trigger. */
  sectionOf: (name: string) => string = () => 'triggers',
): Promise<readonly PlacedFault[]> {
  const past = triggers.filter(({ schedule }) => namesYears(schedule) && nextOf(schedule, now) === undefined)
  if (past.length === 0) return []
  const stored = await store.triggers({ names: past.map(({ name }) => name), active: true })
  const known = new Map(stored.map(({ trigger }) => [trigger.name, JSON.stringify(trigger.schedule)]))
  const place = placeOf()
  for (const { name, schedule } of past) {
    if (known.get(name) === JSON.stringify(schedule)) continue
    const at = [sectionOf(name), name, 'cron'].reduce(within, place)
    fault(at, `it has no instant after ${formatInstant(now)}`, 'a year that is not over')
  }
  return place.faults
}

/** Only an expression with seven fields has years. */
function namesYears(schedule: ScheduleSpec): schedule is ScheduleSpec & CronSpec {
  return schedule.kind === 'cron' && schedule.expression.trim().split(/\s+/).length === 7
}

function nextOf({ expression, timezone, dst }: CronSpec, now: Instant): Instant | undefined {
  return cronSchedule(expression, { timezone, dst }).next(now)
}
