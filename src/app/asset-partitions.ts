import { labelsOf } from '../model/partition-range.js'
import type { Store } from '../store/store.js'
import type { Instant } from '../time/instant.js'
import { findAsset, knownLabels, partitionStatuses, type PartitionStatus } from './assets.js'
import { recentPartitions } from './recent-partitions.js'
import { assertLabel } from '../model/partition-label.js'
import { dimensionsOf, isTime } from '../model/partition-spec.js'

/** How partitions of an asset stand: the newest ones, a range, or those that are named. */
export async function partitionsOf(
  store: Store,
  request: {
    readonly asset: string
    readonly from?: string | undefined
    readonly to?: string | undefined
    readonly labels?: readonly string[] | undefined
    readonly newest?: number | undefined
    readonly now: Instant
  },
): Promise<readonly PartitionStatus[]> {
  const job = await findAsset(store, request.asset)
  const { partitions: spec } = job.asset
  const { from, labels, newest = 30, now } = request
  for (const label of labels ?? []) assertLabel(spec, label)
  // A range that has no end reaches to now.
  const hasTime = dimensionsOf(spec).some(isTime)
  const to =
    request.to ??
    (hasTime && from !== undefined ? recentPartitions(spec, { now, most: 1 })?.at(-1) : undefined)
  const listed =
    labels ??
    (from === undefined && to === undefined
      ? recentPartitions(spec, { now, most: newest })
      : [...labelsOf(spec, { from, to })])
  return await partitionStatuses(store, job, listed ?? (await knownLabels(store, job, newest)))
}
