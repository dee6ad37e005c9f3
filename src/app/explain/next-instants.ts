import { nextLook, scheduleOf, type ScheduleSpec } from '../../kernel/trigger/schedule.js'
import type { Instant } from '../../time/instant.js'

/** The next due instants of a trigger that are not excluded; none for an after-finish trigger. */
export function nextInstants(
  schedule: ScheduleSpec,
  options: { after: Instant; count: number },
): readonly Instant[] {
  const instants = scheduleOf(schedule)
  const found: Instant[] = []
  let at = nextLook(schedule, instants, options.after)
  while (at !== undefined && found.length < options.count) {
    found.push(at)
    at = nextLook(schedule, instants, at)
  }
  return found
}
