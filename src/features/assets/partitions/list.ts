import { refuse, RotaError } from '../../../kernel/definition/errors.js'
import { placeOf, within } from '../../../kernel/definition/faults.js'
import { assertLabel } from '../../../kernel/partition/label.js'
import { labelsOf } from '../../../kernel/partition/range.js'
import { dimensionsOf, isTime, maxPartitions } from '../../../kernel/partition/spec.js'
import { readWhole } from '../../../kernel/definition/read-value.js'
import type { Store } from '../../../store/port.js'
import { namedText } from '../../../text/error-text.js'
import type { Instant } from '../../../time/instant.js'
import { findAsset, knownLabels, partitionStatuses, type PartitionStatus } from '../status.js'
import { recentPartitions } from './recent.js'

/** The states of partitions of an asset: the newest ones, a range, or the given ones. */
export async function partitionsOf(
  store: Store,
  request: {
    readonly asset: string
    readonly from?: string | undefined
    readonly to?: string | undefined
    readonly labels?: readonly string[] | undefined
    readonly newest?: number | undefined
    readonly after?: string | undefined
    readonly limit?: number | undefined
    readonly now: Instant
  },
): Promise<readonly PartitionStatus[]> {
  const job = await findAsset(store, request.asset)
  const { partitions: spec } = job.asset
  const { from, labels, now } = request
  const newest = readNewest(request.newest) ?? 30
  for (const label of labels ?? []) assertLabel(spec, label)
  // A range without an end ends now.
  const hasTime = dimensionsOf(spec).some(isTime)
  const to =
    request.to ??
    (hasTime && from !== undefined ? recentPartitions(spec, { now, most: 1 })?.at(-1) : undefined)
  const listed =
    labels ??
    (from === undefined && to === undefined
      ? recentPartitions(spec, { now, most: newest })
      : [...labelsOf(spec, { from, to })])
  const all = listed ?? (await knownLabels(store, job, newest))
  return await partitionStatuses(store, job, pageOf(all, request))
}

/** The requested page of the labels: only its states are read. */
function pageOf(
  labels: readonly string[],
  {
    after,
    limit = maxPartitions,
  }: { readonly after?: string | undefined; readonly limit?: number | undefined },
): readonly string[] {
  const first = after === undefined ? 0 : labels.indexOf(after) + 1
  if (after !== undefined && first === 0)
    throw new RotaError(
      'PARTITION_INVALID',
      `${namedText(after)} is not among the partitions that are asked for`,
    )
  return labels.slice(first, first + limit)
}

function readNewest(newest: unknown): number | undefined {
  const place = placeOf()
  const count = readWhole(newest, { min: 1, max: maxPartitions }, within(place, 'newest'))
  refuse('what is asked of the partitions', place.faults)
  return count
}
