import type { Instant } from '../time/instant.js'
import { fractionOf, runIdOf, type RunId } from './identity.js'
import type { Job } from './job.js'
import { runLabels } from './jobs-source.js'
import { partitionOf } from './partition.js'
import type { Gate, NewRun } from './run.js'
import type { ScheduleSpec } from './schedule.js'
import type { DueTrigger, Trigger } from './trigger.js'

/** The id of the run of a trigger at a due instant. */
export function triggerRunId(trigger: Trigger, dueAt: Instant): RunId {
  return runIdOf({
    at: dueAt,
    parts: ['due', trigger.name, String(dueAt), partitionAt(trigger, dueAt) ?? ''],
  })
}

/** The name of the trigger of a plan's entry. */
export function planTriggerName(jobId: string): string {
  return `plan:${jobId}`
}

/** The id of the run of a plan's entry: the same whether its trigger made it or another program's queue file. */
export function planRunId(jobId: string, dueAt: Instant): RunId {
  return runIdOf({ at: dueAt, parts: ['due', planTriggerName(jobId), String(dueAt), ''] })
}

/** The label of the slice of data that a due instant of a trigger is about, where it has one. */
export function partitionAt(trigger: Trigger, dueAt: Instant): string | undefined {
  if (trigger.partition === undefined) return undefined
  return partitionOf(trigger.partition, dueAt, timezoneOf(trigger.schedule))
}

/** The run that a due instant of a trigger becomes. */
export function newTriggerRun(due: DueTrigger, dueAt: Instant): NewRun {
  const { trigger, jobDefinition: job } = due
  const id = triggerRunId(trigger, dueAt)
  return {
    id,
    job: job.name,
    origin: 'trigger',
    trigger: trigger.name,
    version: due.version,
    dueAt,
    runAt: dueAt + spreadOf(trigger) + jitterOf(trigger, id),
    priority: trigger.priority ?? job.priority,
    partition: partitionAt(trigger, dueAt),
    payload: trigger.payload,
    gates: gatesOf({ job, trigger }),
    ...(trigger.notesExecution === true ? { follow: 'once' as const } : {}),
    ...runLabels(due, dueAt),
  }
}

/** The limits that a run shares with others. */
export function gatesOf(input: {
  job: Job
  trigger?: Trigger | undefined
  groupKey?: string | undefined
}): Gate[] {
  const { job, trigger, groupKey } = input
  const gates: Gate[] = []
  if (trigger !== undefined && trigger.overlap !== 'allow')
    gates.push({ key: `trigger:${trigger.name}`, limit: 1 })
  if (job.concurrency !== undefined) gates.push({ key: `job:${job.name}`, limit: job.concurrency })
  if (groupKey !== undefined) gates.push({ key: `key:${job.name}=${groupKey}`, limit: job.keyConcurrency })
  return gates
}

function spreadOf(trigger: Trigger): number {
  return trigger.spreadMs === 0 ? 0 : Math.floor(trigger.spreadMs * fractionOf(trigger.name))
}

function jitterOf(trigger: Trigger, id: RunId): number {
  return trigger.jitterMs === 0 ? 0 : Math.floor(trigger.jitterMs * fractionOf(id))
}

function timezoneOf(schedule: ScheduleSpec): string {
  return schedule.kind === 'cron' ? schedule.timezone : 'UTC'
}
