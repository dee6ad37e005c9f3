import { fault, within, type Place } from '../../kernel/definition/faults.js'
import { timezoneOf } from '../../kernel/trigger/schedule.js'
import type { Job } from '../../kernel/job/job.js'
import { checkPartitionRule } from '../../kernel/partition/rule.js'
import { noteDelayedJob } from '../../kernel/trigger/contradictions.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'

/** Records why a timed trigger does not fit its job: partitions it does not determine, delays that break the SLA. */
export function checkTimed(trigger: Trigger, job: Job | undefined, place: Place): void {
  const { schedule, partition } = trigger
  const due = { rule: partition, spec: job?.asset?.partitions, timezone: timezoneOf(schedule) }
  checkPartitionRule(due, schedule.kind === 'cron', within(place, 'partition'))
  noteDelayedJob(trigger, job, place)
}

/** The same for an after-finish trigger, which an asset cannot have. */
export function checkChained(trigger: Trigger, job: Job | undefined, place: Place): void {
  if (job?.asset !== undefined)
    fault(within(place, 'after'), 'an asset is not due after its own end', 'cron, or every on its grid')
  checkTimed(trigger, job, place)
}
