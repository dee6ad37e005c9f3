import type { Hold } from '../../../kernel/hold/hold.js'
import type { ScheduleSpec } from '../../../kernel/trigger/schedule.js'
import type { StoredTrigger } from '../../../kernel/trigger/trigger.js'
import { formatDuration } from '../../../time/duration.js'
import { formatInstant } from '../../../time/instant.js'

/** When a trigger is due, in a few words. */
export function scheduleText(schedule: ScheduleSpec): string {
  switch (schedule.kind) {
    case 'cron':
      return schedule.timezone === 'UTC' ? schedule.expression : `${schedule.expression} ${schedule.timezone}`
    case 'interval':
      return `every ${formatDuration(schedule.everyMs)}`
    case 'after-finish':
      return `${formatDuration(schedule.everyMs)} after finish`
    case 'once':
      return `once ${formatInstant(schedule.at)}`
    case 'sensor':
      if (isHeard(schedule)) return 'heard by webhook'
      return `${schedule.type} polled every ${formatDuration(schedule.everyMs)}`
    case 'upstream':
      return `after ${schedule.assets.join(', ')}`
  }
}

/** Whether a sensor waits for what others deliver: nothing is looked for, so that its polls are nobody's concern. */
export function isHeard(schedule: ScheduleSpec): boolean {
  return schedule.kind === 'sensor' && schedule.type === 'webhook'
}

/** Whether a trigger ticks, and what keeps it from it. */
export type TriggerState = 'on' | 'paused' | 'frozen' | 'switched off' | 'disabled' | 'over' | 'ended'

/** How a trigger stands, given the holds in force. */
export function triggerState(
  { trigger, active, nextAt, chainRun }: StoredTrigger,
  holds: readonly Hold[],
): TriggerState {
  const targets = new Set<string>(holds.map((hold) => hold.target))
  if (!active) return 'ended'
  if (!trigger.enabled) return 'disabled'
  if (targets.has('switch:pipeline') || targets.has('switch:scheduler')) return 'switched off'
  if (targets.has('all')) return 'frozen'
  if (targets.has(`trigger:${trigger.name}`)) return 'paused'
  const isWaited = trigger.schedule.kind === 'upstream'
  return nextAt === undefined && chainRun === undefined && !isWaited ? 'over' : 'on'
}

/** What `--json` prints of a range of due instants that did not run. */
export const rangeFields = ['firstAt', 'lastAt', 'reason', 'rule', 'version', 'blocker', 'detail'] as const
