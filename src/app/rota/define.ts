import type { Handler, RunContext } from '../../engine/worker/perform.js'
import { stepFunctions, type StepFunction } from '../../handlers/pipeline/step-function.js'
import { defineJob, type JobInput, type JobOptions } from '../../kernel/job/define-job.js'
import {
  defineTrigger,
  type ScheduleOptions,
  type TriggerInput,
} from '../../kernel/trigger/define-trigger.js'
import { functionOf, twice } from '../../engine/sync/registry.js'
import { planPaths } from '../../features/plans/triggers.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { StoredJob } from '../../store/port.js'
import { addDefinitions, removeDefinition, type Added, type Removed } from '../definitions/definitions.js'
import type { JobRef } from '../rota-options.js'
import { RotaCore } from './core.js'

/** What an app defines: by code before its start, and at run time. */
export abstract class RotaDefinitions extends RotaCore {
  /** Defines a job as a function of this process. */
  job<Payload = unknown>(
    name: string,
    handler: (run: RunContext<Payload>) => unknown,
    options: JobOptions = {},
  ): JobRef<Payload> {
    return this.define(name, { ...options, handler })
  }

  /** Defines a job of any kind: a function, a command or a request. */
  define<Payload = unknown>(name: string, input: JobInput): JobRef<Payload> {
    this.assertNotStarted('a job')
    this.own.changed()
    this.registry.addJob(defineJob(name, input), functionOf(input))
    return { name }
  }

  /** Defines when a job is due. */
  protected scheduleJob(
    name: string,
    options: ScheduleOptions & { readonly job: string | JobRef<never> | JobRef },
  ): void {
    this.assertNotStarted('a trigger')
    const job = typeof options.job === 'string' ? options.job : options.job.name
    const asset = this.registry.jobs.get(job)?.job.asset
    this.registry.addTrigger(defineTrigger(name, { ...options, job }, asset))
  }

  /** Registers a function that steps of pipelines use. */
  step(name: string, step: StepFunction): void {
    this.assertNotStarted('a step')
    const steps = this.registry.part(stepFunctions)
    if (steps.has(name)) throw twice('step', name)
    steps.set(name, step)
  }

  /** The functions that were registered for steps of pipelines, by name. */
  get steps(): ReadonlyMap<string, StepFunction> {
    return this.registry.part(stepFunctions)
  }

  /** Has the entries of a plan file performed when they are due; it is read at the start. */
  plan(path: string): void {
    this.assertNotStarted('a plan')
    this.registry.part(planPaths).push(path)
  }

  /** Defines jobs and triggers at run time, beside those from code and config. */
  async add(input: {
    readonly jobs?: Readonly<Record<string, JobInput>>
    readonly triggers?: Readonly<Record<string, TriggerInput>>
    readonly replace?: boolean
  }): Promise<Added> {
    const accept = (name: string, handler: Handler): void => this.registry.addHandler(name, handler)
    const names = [...Object.keys(input.jobs ?? {}), ...Object.keys(input.triggers ?? {})]
    const asked = { operation: 'add', target: names.join(', '), outcome: () => 'added' }
    const added = await this.tell(asked, async () =>
      addDefinitions(await this.store(), { ...input, now: this.now(), accept }),
    )
    this.wake()
    return added
  }

  /** Ends a trigger, or forgets a job, that was added at run time. Waiting runs are cancelled, history stays. */
  async remove(name: string): Promise<Removed> {
    const asked = { operation: 'remove', target: name, outcome: ({ kind }: Removed) => `${kind} removed` }
    return await this.tell(asked, async () => removeDefinition(await this.store(), { name, now: this.now() }))
  }

  /** All triggers, by name. */
  async triggers(): Promise<readonly StoredTrigger[]> {
    return await (await this.store()).triggers()
  }

  /** All jobs, by name. */
  async jobs(): Promise<readonly StoredJob[]> {
    return await (await this.store()).jobs()
  }
}
