import { RotaError, refuse, type Fault } from '../model/errors.js'
import { defineJob, defineRound, defineTrigger } from '../model/define.js'
import type { JobInput, RoundInput, TriggerInput } from '../model/define.js'
import type { Key } from '../model/faults.js'
import type { Job, Queue } from '../model/job.js'
import { jobsOf, type Trigger } from '../model/trigger.js'
import type { Handler } from '../engine/perform.js'
import type { StepFunction } from '../handlers/step-function.js'

/** What an app defines in this process, before any of it is in the store. */
export class Registry {
  readonly jobs = new Map<string, { readonly job: Job; readonly handler: Handler | undefined }>()
  readonly triggers = new Map<string, Trigger>()
  readonly queues = new Map<string, Queue>()
  /** The functions of jobs that were added at run time: their definitions are in the store only. */
  readonly handlers = new Map<string, Handler>()
  /** The functions that steps of pipelines use. */
  readonly steps = new Map<string, StepFunction>()
  /** Plan files, read at the start. */
  readonly plans: string[] = []
  /** The jobs file that is used in place, as an absolute path. */
  jobsFile: string | undefined

  addJob(name: string, input: JobInput): Job {
    if (this.jobs.has(name)) throw twice('job', name)
    const job = defineJob(name, input)
    this.jobs.set(name, { job, handler: functionOf(input) })
    return job
  }

  addTrigger(name: string, input: TriggerInput): Trigger {
    if (this.triggers.has(name)) throw twice('trigger', name)
    const trigger = defineTrigger(name, input)
    this.triggers.set(name, trigger)
    return trigger
  }

  addRound(name: string, input: RoundInput): Trigger {
    if (this.triggers.has(name)) throw twice('trigger', name)
    const trigger = defineRound(name, input)
    this.triggers.set(name, trigger)
    return trigger
  }

  addStep(name: string, step: StepFunction): void {
    if (this.steps.has(name)) throw twice('step', name)
    this.steps.set(name, step)
  }

  addQueue(queue: Queue): void {
    this.queues.set(queue.name, queue)
  }

  addHandler(name: string, handler: Handler): void {
    this.handlers.set(name, handler)
  }

  /** Throws where a trigger names a job that is neither here nor among the others; a config knows where it does. */
  checkJobs(others: ReadonlySet<string>, whereOf?: (keys: readonly Key[]) => string): void {
    const faults: (Fault & { readonly where?: string })[] = []
    for (const trigger of this.triggers.values()) {
      for (const [index, job] of jobsOf(trigger).entries()) {
        if (this.jobs.has(job) || others.has(job)) continue
        const { keys, path } = placeOfJob(trigger, index)
        const where = whereOf?.(keys)
        faults.push({
          ...(where === undefined ? {} : { where }),
          path,
          message: `no job is named ${job}`,
          allowed: [...this.jobs.keys(), ...others].join(', '),
        })
      }
    }
    refuse('the app', faults)
  }
}

function placeOfJob({ name, round }: Trigger, index: number): { keys: readonly Key[]; path: string } {
  if (round === undefined) return { keys: ['triggers', name, 'job'], path: `triggers.${name}.job` }
  return { keys: ['rounds', name, 'services', index], path: `rounds.${name}.services[${index}]` }
}

/** The function of a job that is one of this process. */
export function functionOf({ handler }: JobInput): Handler | undefined {
  return typeof handler === 'function' ? (handler as Handler) : undefined
}

function twice(what: string, name: string): RotaError {
  const faults = [{ path: `${what}s.${name}`, message: `${what} ${name} is defined twice` }]
  return new RotaError('DEFINITION_INVALID', `${what} ${name} is defined twice`, { faults })
}
