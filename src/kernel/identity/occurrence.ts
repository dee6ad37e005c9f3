import type { Instant } from '../../time/instant.js'
import { dueRunId, fractionOf, type RunId } from './identity.js'
import type { Job } from '../job/job.js'
import { runLabels } from '../job/command-source.js'
import { partitionOfLabel } from '../partition/asset.js'
import { dueLabel, isGrain } from '../partition/rule.js'
import { keepingName } from '../run/end-effect.js'
import type { ConcurrencySlot, NewRun } from '../run/run.js'
import { runDeadlines } from '../sla/deadline.js'
import { timezoneOf } from '../trigger/schedule.js'
import type { DueTrigger, Trigger } from '../trigger/trigger.js'

/** The id of the run of a trigger at a due instant. */
export function triggerRunId(trigger: Trigger, dueAt: Instant): RunId {
  return dueRunId({ trigger: trigger.name, dueAt, grain: grainAt(trigger, dueAt) })
}

/** The name of the trigger of a plan entry. */
export function planTriggerName(jobId: string): string {
  return `plan:${jobId}`
}

/** The id of the run of a plan entry: the same for its trigger and for a queue file of another program. */
export function planRunId(jobId: string, dueAt: Instant): RunId {
  return dueRunId({ trigger: planTriggerName(jobId), dueAt })
}

/** The partition label of a due instant; undefined if there is none. */
export function partitionAt(
  { partition, schedule }: Trigger,
  { asset }: Pick<Job, 'asset'>,
  dueAt: Instant,
): string | undefined {
  const spec = asset?.partitions
  return dueLabel({ rule: partition, spec, timezone: timezoneOf(schedule) }, dueAt)
}

/** The end effect of a run, if its job or trigger has one. */
export function endEffectFor(
  { asset, sla }: Pick<Job, 'asset' | 'sla'>,
  trigger?: Pick<Trigger, 'recordsExecution' | 'sla'>,
): { readonly endEffect?: string } {
  const own = asset !== undefined ? 'asset' : trigger?.recordsExecution === true ? 'once' : undefined
  const isJob = sla?.notOlderThanMs !== undefined
  const endEffect = keepingName(own, { isJob, isTrigger: trigger?.sla?.notOlderThanMs !== undefined })
  return endEffect === undefined ? {} : { endEffect }
}

/** The run of a due instant. */
export function newTriggerRun(due: DueTrigger, dueAt: Instant): NewRun {
  const { trigger, jobDefinition: job } = due
  const id = triggerRunId(trigger, dueAt)
  const label = partitionAt(trigger, job, dueAt)
  const partition = label === undefined ? undefined : partitionOfLabel(label)
  return {
    id,
    job: job.name,
    origin: 'trigger',
    trigger: trigger.name,
    version: due.version,
    dueAt,
    runAt: dueAt + spreadOf(trigger) + jitterOf(trigger, id),
    priority: trigger.priority ?? job.priority,
    partition,
    payload: trigger.payload,
    slots: slotsFor({ job, trigger, partition }),
    ...endEffectFor(job, trigger),
    ...runDeadlines({ job, trigger }, dueAt),
    ...runLabels(due, { run: id, dueAt }),
  }
}

/** The concurrency slots that a run needs. */
export function slotsFor(input: {
  job: Job
  trigger?: Trigger | undefined
  concurrencyKey?: string | undefined
  partition?: string | undefined
}): ConcurrencySlot[] {
  const { job, trigger, concurrencyKey, partition } = input
  const slots: ConcurrencySlot[] = []
  if (trigger !== undefined && trigger.overlap !== 'allow')
    slots.push({ key: `trigger:${trigger.name}`, limit: 1 })
  if (job.concurrency !== undefined) slots.push({ key: `job:${job.name}`, limit: job.concurrency })
  if (concurrencyKey !== undefined)
    slots.push({ key: `key:${job.name}=${concurrencyKey}`, limit: job.concurrencyPerKey })
  // Two runs that write the same partition concurrently would mix their data.
  if (job.asset !== undefined) slots.push({ key: `partition:${job.name}=${partition ?? ''}`, limit: 1 })
  return slots
}

function spreadOf(trigger: Trigger): number {
  return trigger.spreadMs === 0 ? 0 : Math.floor(trigger.spreadMs * fractionOf(trigger.name))
}

function jitterOf(trigger: Trigger, id: RunId): number {
  return trigger.jitterMs === 0 ? 0 : Math.floor(trigger.jitterMs * fractionOf(id))
}

/** The partition as part of a run's id; empty if the instant already determines it. */
function grainAt({ partition, schedule }: Trigger, dueAt: Instant): string {
  if (!isGrain(partition)) return ''
  return dueLabel({ rule: partition, spec: undefined, timezone: timezoneOf(schedule) }, dueAt) ?? ''
}
