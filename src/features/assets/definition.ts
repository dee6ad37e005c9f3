import type { AssetSpec } from '../../kernel/partition/asset-spec.js'
import { assetQueue, followerName, type AssetJob } from '../../kernel/partition/asset.js'
import type { DefinitionDefaults, JobDefinition, TriggerOrigin } from '../../kernel/definition/definitions.js'
import { functionOf, readJob, type JobInput } from '../../kernel/job/define-job.js'
import { refuse } from '../../kernel/definition/errors.js'
import { fault, placeOf, shown, within, type Place } from '../../kernel/definition/faults.js'
import { frozen } from '../../kernel/definition/frozen.js'
import { readDependency, type Dependency } from '../../kernel/partition/dependency.js'
import { readPartitions, type PartitionInput } from '../../kernel/partition/define.js'
import type { PartitionMap } from '../../kernel/partition/pairs.js'
import type { AssetSlaInput } from '../../kernel/sla/sla.js'
import { isTime, type PartitionSpec } from '../../kernel/partition/spec.js'
import type { Job } from '../../kernel/job/job.js'
import { isMap, readChoice, type Written } from '../../kernel/definition/read-value.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'

/** The partitions of an asset, its dependencies, and when it is produced again. */
export interface AssetOptions {
  /** How its data is partitioned: `daily()`, `hourly()`, `byKeys([…])` …; in a file the same as a map, or the kind alone. Default: one partition. */
  readonly partitions?: PartitionInput | undefined
  /** The assets it depends on: a name, or a name and a map of which partitions it needs. @maxItems 100 */
  readonly deps?: readonly (string | DependencyInput)[] | undefined
  /** Whether a partition is produced when everything it needs is done (`upstream`, the default), or only on request (`manual`). */
  readonly follow?: 'upstream' | 'manual' | undefined
  /** How soon its runs begin and end, by when its partitions are produced, and how old the last success may be; a breach is recorded and can be reported. Default: nothing is promised. */
  readonly sla?: AssetSlaInput | undefined
}

/** A dependency of an asset. */
export interface DependencyInput {
  readonly asset: string
  /** Which upstream partitions each partition needs; default: those that overlap its time and have the same key. */
  readonly map?: PartitionMap | undefined
}

/** An asset as code or a config file writes it: the options of a job, and `materialize` or a handler of a job. */
export interface AssetInput extends Omit<JobInput, 'sla'>, AssetOptions {
  /** A function of this process that produces one partition. */
  readonly materialize?: ((run: never) => unknown) | undefined
}

/** An asset is a job, and the trigger that follows its dependencies. */
export interface AssetDefinition {
  readonly job: AssetJob
  readonly follower: Trigger | undefined
}

/** Where a config has the schedules of assets. */
export const scheduleOrigin: TriggerOrigin = { section: 'schedules', jobAt: () => ['asset'] }

/** The function that produces an asset, if it is one of this process. */
export function functionOfAsset(input: unknown): JobDefinition['handler'] {
  const { materialize, handler } = isMap(input) ? input : {}
  return functionOf({ handler: materialize ?? handler })
}

/** The names of the triggers of an app that are schedules of assets; a part of its definitions. */
export function ownSchedules(): Set<string> {
  return new Set()
}

/** The frozen job of an asset and its trigger; throws one error with all its faults. */
export function defineAsset(name: string, input: AssetInput): AssetDefinition {
  const place = placeOf()
  const asset = readAsset({ name, input }, place)
  refuse(`asset ${shown(name)}`, place.faults)
  return asset as AssetDefinition
}

/** The frozen job of an asset and its trigger, or undefined if there are faults, which are added to the place. */
export function readAsset(
  written: {
    readonly name: unknown
    readonly input: unknown
    readonly defaults?: DefinitionDefaults | undefined
  },
  place: Place,
): AssetDefinition | undefined {
  const before = place.faults.length
  const input = isMap(written.input) ? written.input : {}
  const zone = zoneOfPartitions(input['partitions'])
  const job = readJob(
    { ...written, input: asJob(written.input, place), others: assetOptionNames, zone },
    place,
  )
  const partitions: PartitionSpec =
    input['partitions'] === undefined
      ? { kind: 'unpartitioned' }
      : (readPartitions(input['partitions'], within(place, 'partitions')) ?? { kind: 'unpartitioned' })
  const asset: AssetSpec = { partitions, deps: readDeps(input['deps'], within(place, 'deps')) }
  if (job !== undefined && place.faults.length === before) notePartitionPromises(job, partitions, place)
  const follow = readChoice(input['follow'], ['upstream', 'manual'], within(place, 'follow')) ?? 'upstream'
  if (input['follow'] === 'upstream' && asset.deps.length === 0)
    fault(
      within(place, 'follow'),
      'upstream contradicts `deps`: there is nothing to follow',
      'manual, or deps',
    )
  if (place.faults.length > before || job === undefined) return undefined
  const made = frozen({ ...job, asset })
  return { job: made, follower: follow === 'manual' ? undefined : followerOf(made) }
}

/** The zone of the partitions as written; an invalid zone is reported with the partitions. */
function zoneOfPartitions(value: unknown): string | undefined {
  const timezone = isMap(value) ? value['timezone'] : undefined
  return typeof timezone === 'string' ? timezone : undefined
}

/** Only a time partition has an end from which a promise can be measured. */
function notePartitionPromises({ sla }: Job, partitions: PartitionSpec, place: Place): void {
  if (isTime(partitions)) return
  for (const [name, value] of [
    ['madeWithin', sla?.madeWithinMs],
    ['madeBy', sla?.madeBy],
  ] as const) {
    if (value === undefined) continue
    fault(
      within(within(place, 'sla'), name),
      `it contradicts \`partitions\` (${partitions.kind}), which have no end`,
      'only with partitions that are hourly, daily, weekly or monthly',
    )
  }
}

const assetOptionNames: readonly (keyof AssetOptions)[] = ['partitions', 'deps', 'follow']

/** The function that produces an asset is the handler of its job. */
function asJob(value: unknown, place: Place): unknown {
  if (!isMap(value)) return value
  const { materialize, ...rest } = value
  const input: Written = { queue: assetQueue, ...defined(rest) }
  if (materialize === undefined) return input
  if (input['handler'] === undefined && typeof materialize === 'function')
    return { ...input, handler: materialize }
  const message =
    input['handler'] === undefined
      ? `${shown(materialize)} is not a function`
      : 'materialize and handler cannot be combined'
  fault(
    within(place, 'materialize'),
    message,
    'a function in code; command, http, pipeline or handler elsewhere',
  )
  return { ...input, handler: () => undefined }
}

function defined(value: Written): Written {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined))
}

const mostDeps = 100

function readDeps(value: unknown, place: Place): readonly Dependency[] {
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length > mostDeps) {
    fault(
      place,
      `${shown(value)} is not a list of assets`,
      `a list of at most ${mostDeps} names or { asset, map }`,
    )
    return []
  }
  const deps = value.flatMap((one: unknown, index) => readDependency(one, within(place, index)) ?? [])
  const names = deps.map(({ asset }) => asset)
  const twice = [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]
  if (twice.length > 0) fault(place, `more than once: ${twice.join(', ')}`, 'every asset once')
  return deps
}

/** The trigger that follows the dependencies of an asset; undefined if there are none. */
function followerOf({ name, asset }: AssetJob): Trigger | undefined {
  if (asset.deps.length === 0) return undefined
  return frozen({
    name: followerName(name),
    job: name,
    schedule: { kind: 'upstream', assets: asset.deps.map((dep) => dep.asset) },
    payload: undefined,
    partition: undefined,
    catchUp: { mode: 'all', maxAgeMs: undefined, maxRuns: 100, graceMs: 60_000 },
    // Partitions do not wait for each other; two runs of one partition do, for its concurrency slot.
    overlap: 'allow',
    jitterMs: 0,
    spreadMs: 0,
    priority: undefined,
    enabled: true,
  })
}
