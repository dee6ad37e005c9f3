import { RotaError, refuse, type Fault } from '../model/errors.js'
import { defineJob, defineQueue, defineTrigger, type JobInput, type TriggerInput } from '../model/define.js'
import type { Job, Queue } from '../model/job.js'
import type { Trigger } from '../model/trigger.js'
import type { Handler } from '../engine/perform.js'

/** What an app defines in this process, before any of it is in the store. */
export class Registry {
  readonly jobs = new Map<string, { readonly job: Job; readonly handler: Handler | undefined }>()
  readonly triggers = new Map<string, Trigger>()
  readonly queues = new Map<string, Queue>()

  addJob(name: string, input: JobInput): Job {
    if (this.jobs.has(name)) throw twice('job', name)
    const job = defineJob(name, input)
    this.jobs.set(name, { job, handler: input.handler as Handler | undefined })
    return job
  }

  addTrigger(name: string, input: TriggerInput): Trigger {
    if (this.triggers.has(name)) throw twice('trigger', name)
    const trigger = defineTrigger(name, input)
    this.triggers.set(name, trigger)
    return trigger
  }

  addQueue(name: string, options: { readonly concurrency?: number | undefined }): void {
    this.queues.set(name, defineQueue(name, options))
  }

  /** Throws where a trigger names a job that is neither here nor known otherwise. */
  checkJobs(isKnown: (name: string) => boolean): void {
    const faults: Fault[] = []
    for (const trigger of this.triggers.values()) {
      if (this.jobs.has(trigger.job) || isKnown(trigger.job)) continue
      const allowed = [...this.jobs.keys()].join(', ')
      faults.push({
        path: `triggers.${trigger.name}.job`,
        message: `no job is named ${trigger.job}`,
        allowed,
      })
    }
    refuse('the app', faults)
  }
}

function twice(what: string, name: string): RotaError {
  const faults = [{ path: `${what}s.${name}`, message: `${what} ${name} is defined twice` }]
  return new RotaError('DEFINITION_INVALID', `${what} ${name} is defined twice`, { faults })
}
