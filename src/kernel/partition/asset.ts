import type { AssetSpec } from './asset-spec.js'
import { RotaError } from '../definition/errors.js'
import type { Job } from '../job/job.js'
import { labelFault } from './label.js'
import { wholeLabel } from './spec.js'

/** A job that is an asset. */
export type AssetJob = Job & { readonly asset: AssetSpec }

/** The default queue of runs of assets. */
export const assetQueue = 'assets'

/** Whether a job is an asset. */
export function isAsset(job: Job): job is AssetJob {
  return job.asset !== undefined
}

/** The name of the trigger that makes an asset follow its upstream assets. */
export function followerName(asset: string): string {
  return `asset:${asset}`
}

/** The partition of a run as stored; undefined for data without partitions. */
export function partitionOfLabel(label: string): string | undefined {
  return label === wholeLabel ? undefined : label
}

/** The label of a stored partition. */
export function labelOfPartition(partition: string | undefined): string {
  return partition ?? wholeLabel
}

/** Returns the label of a run of an asset; throws if it is not a partition of the asset. */
export function assertPartition({ name, asset }: AssetJob, partition: string | undefined): string {
  const label = labelOfPartition(partition)
  const { kind } = asset.partitions
  const refused =
    label === wholeLabel && kind !== 'unpartitioned'
      ? { refused: `no partition was named, and its partitions are ${kind}`, allowed: 'one partition' }
      : labelFault(asset.partitions, label)
  if (refused === undefined) return label
  throw new RotaError('PARTITION_INVALID', `asset ${name}: ${refused.refused} (allowed: ${refused.allowed})`)
}
