import { partitionRecords } from './facts.js'
import { followerName, isAsset, labelOfPartition, type AssetJob } from '../../kernel/partition/asset.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { PartitionRecord } from './end-effect.js'
import type { Job } from '../../kernel/job/job.js'
import { labelFault } from '../../kernel/partition/label.js'
import { upstreamPartitions } from '../../kernel/partition/map.js'
import { assertMapping } from '../../kernel/partition/pairs.js'
import { labelsOf } from '../../kernel/partition/range.js'
import type { PartitionSpec } from '../../kernel/partition/spec.js'
import { partitionState, type PartitionState } from './partition-state.js'
import { noneNamed } from '../../kernel/definition/read-value.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import { partitionKey } from './plan.js'
import { pick } from '../../wire/to-json.js'
import type { Store } from '../../store/port.js'
import type { Instant } from '../../time/instant.js'

/** An asset and its definition in the store. */
export interface AssetInfo {
  readonly name: string
  readonly partitions: PartitionSpec
  readonly deps: AssetJob['asset']['deps']
  readonly queue: string
  readonly source: string
  /** Whether its partitions are produced when everything they need is done. */
  readonly follows: boolean
  /** When it is due by its schedules. */
  readonly schedules: readonly StoredTrigger[]
}

/** The state of one partition. */
export interface PartitionStatus {
  readonly label: string
  readonly state: PartitionState
  /** When it was last produced, and by which run. */
  readonly doneAt: Instant | undefined
  readonly run: string | undefined
}

/** An asset as `--json` and the API show it. */
export function assetView(asset: AssetInfo) {
  return {
    ...pick(asset, ['name', 'partitions', 'deps', 'queue', 'source', 'follows']),
    schedules: asset.schedules.map(({ trigger, nextAt }) => ({
      ...pick(trigger, ['name', 'schedule', 'partition', 'enabled']),
      nextAt,
    })),
  }
}

/** The state of one partition as `--json` and the API show it. */
export function partitionView({ label, ...status }: PartitionStatus) {
  return { partition: label, ...status }
}

/** All assets, by name. */
export async function listAssets(store: Store): Promise<readonly AssetInfo[]> {
  const triggers = (await store.triggers()).filter(({ active }) => active)
  return (await store.jobs()).flatMap(({ job, source }) => {
    if (!isAsset(job)) return []
    const own = triggers.filter(({ trigger }) => trigger.job === job.name)
    const { partitions, deps } = job.asset
    return {
      name: job.name,
      partitions,
      deps,
      queue: job.queue,
      source,
      follows: own.some(({ trigger }) => trigger.name === followerName(job.name)),
      schedules: own.filter(({ trigger }) => isTimed(trigger)),
    }
  })
}

/** Whether a trigger is due by time. */
export function isTimed({ schedule }: StoredTrigger['trigger']): boolean {
  return schedule.kind === 'cron' || schedule.kind === 'interval' || schedule.kind === 'once'
}

/** The job of an asset. */
export async function findAsset(store: Store, name: string): Promise<AssetJob> {
  const assets = (await store.jobs()).map(({ job }) => job).filter(isAsset)
  const found = assets.find((job) => job.name === name)
  if (found !== undefined) return found
  throw unknown(
    name,
    assets.map((job) => job.name),
  )
}

/** The job, if it is an asset; throws otherwise. */
export function asAsset(job: Job): AssetJob {
  if (isAsset(job)) return job
  throw unknown(job.name, [])
}

function unknown(name: string, known: readonly string[]): RotaError {
  return new RotaError('JOB_UNKNOWN', noneNamed('asset is named', name, { known, list: 'rota asset list' }))
}

/** How many unfinished runs of an asset are read for the states of its partitions. */
const mostUnfinished = 100_000

/** How many partitions are read in one query. */
const perLook = 1000

/** The states of partitions of an asset, in the requested order. */
export async function partitionStatuses(
  store: Store,
  { name, asset }: AssetJob,
  labels: readonly string[],
): Promise<readonly PartitionStatus[]> {
  const running = await unfinishedLabels(store, name)
  const specs = new Map(
    (await store.jobs()).flatMap(({ job }) => (isAsset(job) ? [[job.name, job.asset]] : [])),
  )
  const statuses: PartitionStatus[] = []
  const wholes = await madeOfWholes(store, asset, specs)
  for (let i = 0; i < labels.length; i += perLook) {
    const part = labels.slice(i, i + perLook)
    const needs = new Map(part.map((label) => [label, neededBy(asset, label, specs)]))
    const keys = part.flatMap((label) => [{ asset: name, label }, ...(needs.get(label) ?? [])])
    const notes = await partitionRecords(store, keys)
    for (const label of part) {
      const note = notes.get(partitionKey(name, label))
      const upstreamAt = (needs.get(label) ?? []).flatMap(
        (one) => notes.get(partitionKey(one.asset, one.label))?.doneAt ?? [],
      )
      const isRunning = running.has(label)
      statuses.push(statusOf({ label, note, upstreamAt: [...wholes, ...upstreamAt], isRunning }))
    }
  }
  return statuses
}

/** The labels with a stored state; for partitions that cannot be listed. */
export async function knownLabels(store: Store, asset: AssetJob, limit: number): Promise<readonly string[]> {
  const notes = await store.stateEntries({ kind: 'partition', names: [asset.name], limit })
  return notes
    .map(({ item }) => item)
    .filter((label) => labelFault(asset.asset.partitions, label) === undefined)
}

function statusOf(known: {
  label: string
  note: PartitionRecord | undefined
  upstreamAt: readonly Instant[]
  isRunning: boolean
}): PartitionStatus {
  const { label, note, isRunning } = known
  const doneAt = note?.doneAt ?? undefined
  const state = partitionState({
    isRunning,
    done: doneAt === undefined ? undefined : { at: doneAt, upstreamAt: note?.readAt ?? doneAt },
    failedAt: note?.state === 'failed' ? note.at : undefined,
    upstreamAt: known.upstreamAt,
  })
  return { label, state, doneAt, run: note?.run }
}

/** When the newest partition of each asset that is needed as a whole was produced; queried once, not for each partition. */
async function madeOfWholes(
  store: Store,
  { partitions, deps }: AssetJob['asset'],
  specs: ReadonlyMap<string, AssetJob['asset']>,
): Promise<readonly Instant[]> {
  const newest: Instant[] = []
  for (const { asset, map } of deps) {
    const upstream = specs.get(asset)?.partitions
    if (map !== 'all' || upstream === undefined) continue
    assertMapping({ downstream: partitions, upstream, map })
    const keys = Array.from(labelsOf(upstream), (label) => ({ asset, label }))
    const made = [...(await partitionRecords(store, keys)).values()].flatMap(({ doneAt }) => doneAt ?? [])
    if (made.length > 0) newest.push(made.reduce((one, other) => Math.max(one, other)))
  }
  return newest
}

/** The upstream partitions that a partition needs by name; a dependency with `any` never makes it stale. */
function neededBy(
  { partitions, deps }: AssetJob['asset'],
  label: string,
  specs: ReadonlyMap<string, AssetJob['asset']>,
): readonly { readonly asset: string; readonly label: string }[] {
  return deps.flatMap(({ asset, map }) => {
    const upstream = specs.get(asset)?.partitions
    if (upstream === undefined || map === 'all') return []
    const needed = upstreamPartitions({ downstream: partitions, upstream, map }, label)
    return needed.kind === 'any' ? [] : needed.labels.map((one) => ({ asset, label: one }))
  })
}

async function unfinishedLabels(store: Store, job: string): Promise<ReadonlySet<string>> {
  const pending = await store.runs({ job, state: 'pending', limit: mostUnfinished })
  const running = await store.runs({ job, state: 'running', limit: mostUnfinished })
  return new Set([...pending, ...running].map(({ partition }) => labelOfPartition(partition)))
}
