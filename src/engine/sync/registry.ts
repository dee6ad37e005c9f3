import type { AssetSpec } from '../../kernel/partition/asset-spec.js'
import { checkAssets, checkTrigger } from '../../features/assets/check.js'
import { RotaError, refuse, type Fault } from '../../kernel/definition/errors.js'
import { defineAsset } from '../../features/assets/definition.js'
import { defineJob } from '../../kernel/job/define-job.js'
import { defineRound } from '../../features/rounds/definition.js'
import { defineSensor } from '../../features/sensors/definition.js'
import { defineTrigger } from '../../kernel/trigger/define-trigger.js'
import type { AssetInput } from '../../features/assets/definition.js'
import type { JobInput } from '../../kernel/job/define-job.js'
import type { RoundInput } from '../../features/rounds/definition.js'
import type { SensorInput } from '../../features/sensors/definition.js'
import type { TriggerInput } from '../../kernel/trigger/define-trigger.js'
import { placeOf, within, type Key, type PlacedFault } from '../../kernel/definition/faults.js'
import type { Job, Queue } from '../../kernel/job/job.js'
import { didYouMean, noneNamed } from '../../kernel/definition/read-value.js'
import type { ConfiguredSensor } from '../../features/sensors/sensor.js'
import { jobsOf, type Trigger } from '../../kernel/trigger/trigger.js'
import type { Handler } from '../worker/perform.js'
import type { StepFunction } from '../../handlers/pipeline/step-function.js'
import { namedText } from '../../text/error-text.js'

/** What an app defines in this process, before any of it is in the store. */
export class Registry {
  readonly jobs = new Map<string, { readonly job: Job; readonly handler: Handler | undefined }>()
  readonly triggers = new Map<string, Trigger>()
  /** Which of the triggers are schedules of assets. */
  readonly schedules = new Set<string>()
  readonly queues = new Map<string, Queue>()
  /** The functions of jobs that were added at run time: their definitions are in the store only. */
  readonly handlers = new Map<string, Handler>()
  /** The functions that steps of pipelines use. */
  readonly steps = new Map<string, StepFunction>()
  /** What looks, by the names of the triggers. */
  readonly sensors = new Map<string, ConfiguredSensor>()
  /** Services that another program has defined too; this one performs them by its own definition. */
  shared: ReadonlySet<string> = new Set()
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

  /** Defines the job of an asset, and the trigger by which it follows what it is made from. */
  addAsset(name: string, input: AssetInput): Job {
    if (this.jobs.has(name)) throw twice('job', name)
    const { job, follower } = defineAsset(name, input)
    if (follower !== undefined && this.triggers.has(follower.name)) throw twice('trigger', follower.name)
    this.jobs.set(name, { job, handler: functionOf({ handler: input.materialize ?? input.handler }) })
    if (follower !== undefined) this.triggers.set(follower.name, follower)
    return job
  }

  addTrigger(name: string, input: TriggerInput): Trigger {
    if (this.triggers.has(name)) throw twice('trigger', name)
    const trigger = defineTrigger(name, input, this.jobs.get(input.job)?.job.asset)
    this.triggers.set(name, trigger)
    return trigger
  }

  /** Defines when an asset is due; the same name again replaces it. */
  addSchedule(name: string, input: TriggerInput): Trigger {
    const known = this.jobs.get(input.job)?.job.asset
    if (known === undefined) throw unknownAsset(name, input.job, [...this.#assets().keys()])
    if (this.schedules.has(name)) this.triggers.delete(name)
    this.schedules.add(name)
    return this.addTrigger(name, input)
  }

  addRound(name: string, input: RoundInput): Trigger {
    if (this.triggers.has(name)) throw twice('trigger', name)
    const trigger = defineRound(name, input)
    this.triggers.set(name, trigger)
    return trigger
  }

  addSensor(name: string, configured: ConfiguredSensor, input: SensorInput): Trigger {
    if (this.triggers.has(name)) throw twice('trigger', name)
    const trigger = defineSensor(name, configured.type, input)
    this.triggers.set(name, trigger)
    this.sensors.set(name, configured)
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
  checkJobs(others: ReadonlyMap<string, Job>, whereOf?: (keys: readonly Key[]) => string): void {
    const faults: (Fault & { readonly where?: string })[] = []
    for (const found of this.#assetFaults(others)) {
      const where = whereOf?.(found.keys)
      faults.push({ ...(where === undefined ? {} : { where }), ...found })
    }
    const known = [...this.jobs.keys(), ...others.keys()]
    for (const trigger of this.triggers.values()) {
      if (trigger.schedule.kind === 'upstream') continue
      for (const [index, job] of jobsOf(trigger).entries()) {
        if (this.jobs.has(job) || others.has(job)) continue
        const { keys, path } = placeOfJob(trigger, index)
        const where = whereOf?.(keys)
        faults.push({
          ...(where === undefined ? {} : { where }),
          path,
          message: `no job is named ${namedText(job)}${didYouMean(job, known)}`,
          allowed: known.join(', '),
        })
      }
    }
    refuse('the app', faults)
  }

  /** What is wrong between assets, and between them and their triggers. */
  #assetFaults(others: ReadonlyMap<string, Job>): readonly PlacedFault[] {
    const place = placeOf()
    const foreign = [...others.values()].flatMap(({ name, asset }) =>
      asset === undefined ? [] : ([[name, asset]] as const),
    )
    checkAssets({ own: this.#assets(), others: new Map(foreign) }, within(place, 'assets'))
    for (const trigger of this.triggers.values()) {
      const jobs = jobsOf(trigger).flatMap((name) => this.jobs.get(name)?.job ?? others.get(name) ?? [])
      const section =
        trigger.round === undefined ? (this.schedules.has(trigger.name) ? 'schedules' : 'triggers') : 'rounds'
      checkTrigger(trigger, jobs, within(within(place, section), trigger.name))
    }
    return place.faults
  }

  #assets(): ReadonlyMap<string, AssetSpec> {
    const assets = new Map<string, AssetSpec>()
    for (const [name, { job }] of this.jobs) if (job.asset !== undefined) assets.set(name, job.asset)
    return assets
  }
}

/** The error for a schedule of something that is no asset. */
export function unknownAsset(schedule: string, asset: string, known: readonly string[]): RotaError {
  const message = noneNamed('asset is named', asset, { known, list: 'rota asset list' })
  return new RotaError(
    'JOB_UNKNOWN',
    `schedule ${namedText(schedule)}: ${message} For a job, name it as \`job\``,
  )
}

function placeOfJob(
  { name, round, schedule }: Trigger,
  index: number,
): { keys: readonly Key[]; path: string } {
  if (schedule.kind === 'sensor') return { keys: ['sensors', name, 'job'], path: `sensors.${name}.job` }
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
