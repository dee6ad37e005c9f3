import { namesIn } from '../../formats/config/config.js'
import type {
  DefinitionDefaults,
  JobDefinition,
  TriggerDefinition,
} from '../../kernel/definition/definitions.js'
import { fault, shown, within, type Place } from '../../kernel/definition/faults.js'
import { didYouMean, isMap, readEach, type Entry, type Written } from '../../kernel/definition/read-value.js'
import type { ModuleInput } from '../../kernel/job/define-handler.js'
import type { AssetSpec } from '../../kernel/partition/asset-spec.js'
import { readTrigger, type ScheduleOptions } from '../../kernel/trigger/define-trigger.js'
import type { Handler } from '../../engine/worker/perform.js'
import type { FeatureDefinitions } from '../feature-config.js'
import type { AssetRun } from './asset-run.js'
import { checkAssets } from './check.js'
import { functionOfAsset, ownSchedules, readAsset, scheduleOrigin, type AssetInput } from './definition.js'

/** What a config may say about assets. */
export interface AssetsConfig {
  /** Data that is produced in partitions, and its dependencies, by name. */
  readonly assets?: Readonly<Record<string, ConfigAsset>> | undefined
  /** When assets are due, by the name of the schedule, which is that of its asset by default. */
  readonly schedules?: Readonly<Record<string, ConfigScheduleInput>> | undefined
}

/** An asset of a config; in code its functions know their run. */
export interface ConfigAsset extends Omit<AssetInput, 'handler' | 'materialize'> {
  /** A function of this process, or the module that exports one. */
  readonly handler?: Method<Handler> | ModuleInput | undefined
  /** A function of this process that produces one partition. */
  readonly materialize?: Method<(run: AssetRun) => unknown> | undefined
}

/** A method type, so that a function may declare the type of its payload. */
type Method<Of extends (run: never) => unknown> = { call(...parameters: Parameters<Of>): unknown }['call']

/** When an asset is due, as a config file says it under the name of the schedule. */
export interface ConfigScheduleInput extends ScheduleOptions {
  /** The asset; default: the one that has the name of the schedule. */
  readonly asset?: string | undefined
}

/** Reads the assets of a config and when they are due. */
export function readSection(
  { assets, schedules }: Written,
  place: Place,
  defaults: DefinitionDefaults = {},
): FeatureDefinitions {
  const jobNames = namesIn(assets)
  const read = readEach(
    assets,
    (entry, at) => {
      const asset = readAsset({ ...entry, defaults }, at)
      return asset === undefined ? undefined : { ...asset, handler: functionOfAsset(entry.input) }
    },
    within(place, 'assets'),
  )
  const specs = new Map(read.map(({ job }) => [job.name, job.asset]))
  const at = within(place, 'schedules')
  const due = readEach(schedules, (entry, one) => readSchedule({ ...entry, defaults }, specs, one), at)
  noteUnknownAssets(schedules, jobNames, at)
  const jobs = read.map(({ job, handler }): JobDefinition => ({ job, handler, section: 'assets' }))
  const followers = read.flatMap(({ follower }) => (follower === undefined ? [] : [{ trigger: follower }]))
  return {
    jobNames,
    jobs,
    triggers: [...followers, ...due],
    checks: [checkAssets],
    define: ({ definitions }) => {
      for (const { trigger } of due) definitions.part(ownSchedules).add(trigger.name)
    },
  }
}

/** Reads a schedule by the rules of triggers. */
function readSchedule(
  { name, input, defaults }: Entry & { readonly defaults: DefinitionDefaults },
  specs: ReadonlyMap<unknown, AssetSpec>,
  place: Place,
): TriggerDefinition | undefined {
  if (!isMap(input)) return fault(place, `a map of options was expected, not ${shown(input)}`)
  const { asset = name, ...schedule } = input
  if (schedule['job'] !== undefined) fault(within(place, 'job'), 'a schedule is that of an asset', 'asset')
  const written = { name, input: { ...schedule, job: asset }, asset: specs.get(asset), defaults }
  const trigger = readTrigger(written, place)
  return trigger === undefined ? undefined : { trigger, origin: scheduleOrigin }
}

/** Reports schedules of assets that the file does not define. */
function noteUnknownAssets(schedules: unknown, known: readonly string[], place: Place): void {
  if (!isMap(schedules)) return
  for (const [name, schedule] of Object.entries(schedules)) {
    const asset: unknown = isMap(schedule) ? (schedule['asset'] ?? name) : name
    if (typeof asset !== 'string' || known.includes(asset)) continue
    const message = `no asset of this file is named ${asset}${didYouMean(asset, known)}`
    fault(within(within(place, name), 'asset'), message, known.join(', '))
  }
}
