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

/** The name of the trigger by which an asset follows what it is made from. */
export function followerName(asset: string): string {
  return `asset:${asset}`
}

/** The partition of a run as its row has it: data that is not cut has none. */
export function partitionOfLabel(label: string): string | undefined {
  return label === wholeLabel ? undefined : label
}

/** The label that the partition of a run stands for. */
export function labelOfPartition(partition: string | undefined): string {
  return partition ?? wholeLabel
}

/** Throws where a run of an asset would be about no partition of it. */
export function assertPartition({ name, asset }: AssetJob, partition: string | undefined): string {
  const label = labelOfPartition(partition)
  const { kind } = asset.partitions
  const refused =
    label === wholeLabel && kind !== 'unpartitioned'
      ? { refused: `no partition was named, and its partitions are ${kind}`, allowed: 'one of them' }
      : labelFault(asset.partitions, label)
  if (refused === undefined) return label
  throw new RotaError('PARTITION_INVALID', `asset ${name}: ${refused.refused} (allowed: ${refused.allowed})`)
}
