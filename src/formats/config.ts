import { readAsset, type AssetInput } from '../features/assets/definition.js'
import { readJob, type JobInput } from '../kernel/job/define-job.js'
import { readQueue, type QueueOptions } from '../kernel/job/define-queue.js'
import { readRound, type RoundInput } from '../features/rounds/definition.js'
import { readTrigger, type TriggerInput } from '../kernel/trigger/define-trigger.js'
import { noteUnknownServices } from '../features/rounds/definition.js'
import { fault, shown, within, type Place } from '../kernel/definition/faults.js'
import {
  isMap,
  didYouMean,
  readChoice,
  readConcurrency,
  readDuration,
  readName,
  readOptions,
} from '../kernel/definition/read-value.js'
import { MAX_DURATION_MS } from '../time/duration.js'
import { noteUnknownAssets, readConfigSchedule, type ConfigScheduleInput } from '../features/assets/config.js'
import { readConfigSensor, type ConfigSensorInput } from '../features/sensors/config.js'

/** What a config file says. */
export interface ConfigInput {
  /** The address of the schema by which an editor completes the file; it changes nothing else. */
  readonly $schema?: string | undefined
  /** The name under which its definitions are kept; default: the name of the package, else of the directory. */
  readonly app?: string | undefined
  /** Where everything is kept, such as `sqlite:data/rota.db`; a path is relative to the config file. */
  readonly store?: string | undefined
  /** How many runs this worker performs at once. */
  readonly concurrency?: number | undefined
  /** How long a worker may be silent before its runs are taken over, from `1s` to `1h`. */
  readonly lease?: string | number | undefined
  /** How long finished runs are kept, at least `1m`. */
  readonly retention?: string | number | undefined
  /** `full` survives power loss, `normal` every crash of a process. */
  readonly durability?: 'full' | 'normal' | undefined
  /** How the message bus behaves. */
  readonly bus?: { readonly offerAfter?: string | number | undefined } | undefined
  /** Plan files whose entries are performed when they are due, relative to the config file. */
  readonly plans?: readonly string[] | undefined
  /** Functions that steps of pipelines use, by name; only code can write them. */
  readonly steps?: Readonly<Record<string, (step: never) => unknown>> | undefined
  /** Queues with limits over all workers, by name. */
  readonly queues?: Readonly<Record<string, QueueOptions>> | undefined
  /** What there is to do, by name. */
  readonly jobs?: Readonly<Record<string, JobInput>> | undefined
  /** When it is to be done, by name. */
  readonly triggers?: Readonly<Record<string, TriggerInput>> | undefined
  /** Services that are checked every interval and performed in order, by the name of their round. */
  readonly rounds?: Readonly<Record<string, RoundInput>> | undefined
  /** Data that is made in partitions, and what it is made from, by name. */
  readonly assets?: Readonly<Record<string, AssetInput>> | undefined
  /** When assets are due, by the name of the schedule; default: the name of the asset. */
  readonly schedules?: Readonly<Record<string, ConfigScheduleInput>> | undefined
  /** What looks at the outside and triggers runs for what is new, by name. */
  readonly sensors?: Readonly<Record<string, ConfigSensorInput>> | undefined
}

/** A config in which nothing is wrong, as it was written, with its name filled in. */
export interface Config extends ConfigInput {
  readonly app: string
  readonly queues: Readonly<Record<string, QueueOptions>>
  readonly jobs: Readonly<Record<string, JobInput>>
  readonly triggers: Readonly<Record<string, TriggerInput>>
  readonly rounds: Readonly<Record<string, RoundInput>>
  readonly sensors: Readonly<Record<string, ConfigSensorInput>>
  readonly assets: Readonly<Record<string, AssetInput>>
  readonly schedules: Readonly<Record<string, ConfigScheduleInput>>
}

const optionNames: readonly (keyof ConfigInput)[] = [
  '$schema',
  'app',
  'store',
  'concurrency',
  'lease',
  'retention',
  'durability',
  'bus',
  'plans',
  'steps',
  'queues',
  'jobs',
  'triggers',
  'rounds',
  'assets',
  'schedules',
  'sensors',
]

/** How long a lease may be. */
export const leaseBounds = { min: 1000, max: 3_600_000, allowed: 'from 1s to 1h' }

/** How long history may be kept. */
export const retentionBounds = { min: 60_000, max: MAX_DURATION_MS, allowed: 'from 1m to 36525d' }

const offerBounds = { min: 100, max: 86_400_000, allowed: 'from 100ms to 1d' }

/** How long a run may wait before it is offered on the bus, where that is said. */
export function readBus(value: unknown, place: Place): number | undefined {
  if (value === undefined) return undefined
  const input = readOptions(value, ['offerAfter'], place)
  return readDuration(input?.['offerAfter'], offerBounds, within(place, 'offerAfter'))
}

/** Checks a config by the rules of everything it defines, and notes each fault at its place. */
export function readConfig(
  value: unknown,
  defaults: { readonly app: string },
  place: Place,
): Config | undefined {
  const before = place.faults.length
  const input = readOptions(value, optionNames, place)
  if (input === undefined) return undefined
  const app = input['app'] === undefined ? defaults.app : readName(input['app'], within(place, 'app'))
  readStore(input['store'], within(place, 'store'))
  readConcurrency(input['concurrency'], within(place, 'concurrency'))
  readDuration(input['lease'], leaseBounds, within(place, 'lease'))
  readDuration(input['retention'], retentionBounds, within(place, 'retention'))
  readChoice(input['durability'], ['full', 'normal'], within(place, 'durability'))
  readBus(input['bus'], within(place, 'bus'))
  readPlans(input['plans'], within(place, 'plans'))
  readSteps(input['steps'], within(place, 'steps'))
  const queues = readEach<QueueOptions>(input['queues'], readQueue, within(place, 'queues'))
  const jobs = readEach<JobInput>(input['jobs'], readJob, within(place, 'jobs'))
  const triggers = readEach<TriggerInput>(input['triggers'], readTrigger, within(place, 'triggers'))
  const rounds = readEach<RoundInput>(input['rounds'], readRound, within(place, 'rounds'))
  const sensors = readEach<ConfigSensorInput>(input['sensors'], readConfigSensor, within(place, 'sensors'))
  const assets = readEach<AssetInput>(input['assets'], readAsset, within(place, 'assets'))
  const at = within(place, 'schedules')
  const schedules = readEach<ConfigScheduleInput>(input['schedules'], readConfigSchedule, at)
  noteUnknownAssets({ assets, schedules }, at)
  if (place.faults.length > before) {
    noteUnknownJobs({ ...jobs, ...assets }, triggers, within(place, 'triggers'))
    noteUnknownOfRounds(new Set(Object.keys(jobs)), rounds, within(place, 'rounds'))
  }
  if (place.faults.length > before || app === undefined) return undefined
  const { $schema: _, ...known } = input
  return { ...known, app, queues, jobs, triggers, rounds, sensors, assets, schedules }
}

/** A trigger may name a job that is only in the store, which nobody has asked yet; beside other faults it is still worth a look. */
function noteUnknownJobs(
  jobs: Readonly<Record<string, JobInput>>,
  triggers: Readonly<Record<string, TriggerInput>>,
  place: Place,
): void {
  for (const [name, trigger] of Object.entries(triggers)) {
    if (!isMap(trigger) || typeof trigger['job'] !== 'string' || Object.hasOwn(jobs, trigger['job'])) continue
    const { job } = trigger
    const hint = didYouMean(job, Object.keys(jobs))
    const allowed = [...Object.keys(jobs), 'or one that is in the store already'].join(', ')
    fault(within(within(place, name), 'job'), `no job of this file is named ${job}${hint}`, allowed)
  }
}

/** The same of the services of rounds. */
function noteUnknownOfRounds(
  jobs: ReadonlySet<string>,
  rounds: Readonly<Record<string, RoundInput>>,
  place: Place,
): void {
  for (const [name, round] of Object.entries(rounds)) {
    if (isMap(round)) noteUnknownServices(round['services'], jobs, within(within(place, name), 'services'))
  }
}

/** A path or the address of a server; whether it can be opened is another question. */
function readStore(value: unknown, place: Place): void {
  if (value === undefined || (typeof value === 'string' && /^[a-z]+:/.test(value))) return
  fault(place, `${shown(value)} is not the address of a store`, 'an address such as sqlite:data/rota.db')
}

function readPlans(value: unknown, place: Place): void {
  if (value === undefined) return
  if (Array.isArray(value) && value.every((path) => typeof path === 'string' && path !== '')) return
  fault(place, `${shown(value)} is not a list of plan files`, 'a list such as [schedule_plan.yaml]')
}

function readSteps(value: unknown, place: Place): void {
  if (value === undefined) return
  if (!isMap(value)) return fault(place, `a map from names to functions was expected, not ${shown(value)}`)
  for (const [name, step] of Object.entries(value)) {
    readName(name, within(place, name))
    if (typeof step === 'function') continue
    fault(within(place, name), `${shown(step)} is not a function`, 'a function, in a config written in code')
  }
}

type ReadOne = (written: { readonly name: unknown; readonly input: unknown }, place: Place) => unknown

/** Checks every entry of a map from names to definitions; gives the map as it was written. */
function readEach<Input>(value: unknown, readOne: ReadOne, place: Place): Readonly<Record<string, Input>> {
  if (value === undefined) return {}
  if (!isMap(value)) {
    fault(place, `a map from names to definitions was expected, not ${shown(value)}`)
    return {}
  }
  for (const [name, input] of Object.entries(value)) readOne({ name, input }, within(place, name))
  return value as Readonly<Record<string, Input>>
}
