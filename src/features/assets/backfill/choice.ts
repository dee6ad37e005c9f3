import type { BackfillOrder } from '../../../kernel/backfill/backfill.js'
import type { Instant } from '../../../time/instant.js'
import { RotaError } from '../../../kernel/definition/errors.js'
import { labelCheck, partsOf, sliceOf } from '../../../kernel/partition/label.js'
import { labelsOf, refuseMoreThan, type LabelRange } from '../../../kernel/partition/range.js'
import {
  dimensionsOf,
  isTime,
  maxPartitions,
  writtenLabels,
  type PartitionSpec,
} from '../../../kernel/partition/spec.js'
import type { PartitionState } from '../partition-state.js'

/** Which of the requested partitions are produced again. A running one never is. */
export type BackfillChoice = 'missing' | 'failed' | 'missing-or-failed' | 'stale' | 'all'

/** The values of `only`. */
export const backfillChoices: readonly BackfillChoice[] = [
  'missing',
  'failed',
  'missing-or-failed',
  'stale',
  'all',
]

/** The request for a backfill. */
export interface BackfillRequest {
  readonly spec: PartitionSpec
  /** From one label to another, or the labels themselves. */
  readonly partitions: LabelRange | readonly string[]
  readonly stateOf: (label: string) => PartitionState
  readonly now: Instant
  /** Default: the partitions that have no data. */
  readonly only?: BackfillChoice | undefined
  /** Default: oldest first; keys in the order of their list. */
  readonly order?: BackfillOrder | undefined
  /** The maximum number; partitions beyond it are listed as skipped. */
  readonly limit?: number | undefined
}

/** Why a partition is skipped: its state, its time has not begun, or the limit was reached. */
export type SkipReason = PartitionState | 'not-begun' | 'limit'

/** What a backfill would produce, in its order, and what it would skip. */
export interface BackfillPlan {
  readonly run: readonly string[]
  readonly skip: readonly { readonly label: string; readonly reason: SkipReason }[]
}

/** The plan of a backfill: every requested partition is in it exactly once. */
export function planBackfill(request: BackfillRequest): BackfillPlan {
  const { spec, only = 'missing', order = 'oldest-first', limit = maxPartitions } = request
  const { partitions, stateOf, now } = request
  const labels = isList(partitions) ? inOrder(spec, partitions) : [...labelsOf(spec, partitions)]
  if (order === 'newest-first') labels.reverse()
  const run: string[] = []
  const skip: { label: string; reason: SkipReason }[] = []
  for (const label of labels) {
    const reason = hasBegun(spec, label, now) ? skipped(stateOf(label), only) : 'not-begun'
    if (reason !== undefined) skip.push({ label, reason })
    else if (run.length < limit) run.push(label)
    else skip.push({ label, reason: 'limit' })
  }
  return { run, skip }
}

/** The labels that a backfill skips, by reason. */
export function labelsByReason({ skip }: BackfillPlan): ReadonlyMap<SkipReason, readonly string[]> {
  const groups = new Map<SkipReason, string[]>()
  for (const { label, reason } of skip) {
    const labels = groups.get(reason)
    if (labels === undefined) groups.set(reason, [label])
    else labels.push(label)
  }
  return groups
}

function isList(partitions: LabelRange | readonly string[]): partitions is readonly string[] {
  return Array.isArray(partitions)
}

/** The labels in the order of their spec, each once; if one is invalid, all are refused. */
function inOrder(spec: PartitionSpec, labels: readonly string[]): string[] {
  refuseMoreThan(labels.length, maxPartitions)
  refuseUnknown(spec, labels)
  const rankOf = ranking(spec)
  return [...new Set(labels)]
    .map((label) => ({ label, rank: rankOf(label) }))
    .toSorted((one, other) => compareRanks(one.rank, other.rank))
    .map(({ label }) => label)
}

const mostNamed = 20

function refuseUnknown(spec: PartitionSpec, labels: readonly string[]): void {
  const check = labelCheck(spec)
  const faults = labels.flatMap((label, index) => {
    const refused = check(label)
    return refused === undefined
      ? []
      : [{ path: `partitions[${index}]`, message: refused.refused, allowed: refused.allowed }]
  })
  if (faults.length === 0) return
  const named = faults.slice(0, mostNamed).map(({ message, allowed }) => `${message} (allowed: ${allowed})`)
  const more = faults.length > mostNamed ? ` and ${faults.length - mostNamed} more` : ''
  throw new RotaError('PARTITION_INVALID', `${named.join('; ')}${more}`, { faults })
}

/** The position of a label in its spec; custom labels without a list keep the given order. */
function ranking(spec: PartitionSpec): (label: string) => readonly number[] {
  const ranks = dimensionsOf(spec).map((dimension): ((part: string) => number) => {
    if (isTime(dimension)) return (part) => sliceOf(dimension, part).fromAt
    const places = new Map(writtenLabels(dimension)?.map((label, index) => [label, index]))
    return (part) => places.get(part) ?? 0
  })
  return (label) => partsOf(spec, label).map((part, index) => ranks[index]?.(part) ?? 0)
}

function compareRanks(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((rank, at) => rank !== other[at])
  return index < 0 ? 0 : (one[index] as number) - (other[index] as number)
}

/** Whether the time of a partition has begun; always true for a partition without time. */
export function hasBegun(spec: PartitionSpec, label: string, now: Instant): boolean {
  const parts = partsOf(spec, label)
  return dimensionsOf(spec).every(
    (dimension, index) => !isTime(dimension) || sliceOf(dimension, parts[index] ?? '').fromAt <= now,
  )
}

function skipped(state: PartitionState, only: BackfillChoice): PartitionState | undefined {
  if (state === 'running') return state
  switch (only) {
    case 'all':
      return undefined
    case 'missing-or-failed':
      return state === 'missing' || state === 'failed' ? undefined : state
    case 'missing':
    case 'failed':
    case 'stale':
      return state === only ? undefined : state
  }
}
