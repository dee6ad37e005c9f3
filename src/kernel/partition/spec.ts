import { zoneOf } from '../../time/zone.js'
import type { SliceGrain, Slicing } from './slice.js'

/** How the data of an asset is partitioned: plain data, stored with the definition. */
export type PartitionSpec = Dimension | TwoDimensionalSpec | UnpartitionedSpec

/** One dimension of a partition. */
export type Dimension = TimeSpec | KeysSpec | CustomSpec

/** Contiguous slices of time, by the calendar of a zone. */
export interface TimeSpec {
  readonly kind: TimeKind
  readonly timezone: string
  /** The label of the first slice; default: the first of 1970. */
  readonly start?: string | undefined
  /** The label of the last slice; default: none. */
  readonly end?: string | undefined
  /** Whether an instant means the slice before the one that contains it, as for a nightly run about yesterday. */
  readonly previous?: boolean | undefined
}

/** The calendar units of time partitions. */
export type TimeKind = 'hourly' | 'daily' | 'weekly' | 'monthly'

/** A fixed list of keys, in its order. */
export interface KeysSpec {
  readonly kind: 'keys'
  /** The keys. @minItems 1 @maxItems 10000 */
  readonly keys: readonly string[]
}

/** Labels that the user's own code produces. */
export interface CustomSpec {
  readonly kind: 'custom'
  /** All labels in their order; without it any label is accepted and none can be listed. @minItems 1 @maxItems 10000 */
  readonly labels?: readonly string[] | undefined
}

/** Every pair of two partitions; its labels are `first|second`. */
export interface TwoDimensionalSpec {
  readonly kind: 'two-dimensional'
  readonly first: Dimension
  readonly second: Dimension
}

/** One piece, with one empty label. */
export interface UnpartitionedSpec {
  readonly kind: 'unpartitioned'
}

/** The kinds of a single dimension, in the order in which messages list them. */
export const dimensionKinds = ['hourly', 'daily', 'weekly', 'monthly', 'keys', 'custom'] as const

/** The label of the one piece of data that is not partitioned. */
export const wholeLabel = ''

/** The most partitions that are listed, mapped or planned in one call. */
export const maxPartitions = 100_000

/** Whether a dimension is one of time. */
export function isTime(spec: PartitionSpec): spec is TimeSpec {
  return spec.kind === 'hourly' || spec.kind === 'daily' || spec.kind === 'weekly' || spec.kind === 'monthly'
}

/** The grain and zone of a time dimension. */
export function slicingOf({ kind, timezone }: TimeSpec): Slicing {
  return { grain: grains[kind], zone: zoneOf(timezone) }
}

const grains: Readonly<Record<TimeKind, SliceGrain>> = {
  hourly: 'hour',
  daily: 'day',
  weekly: 'week',
  monthly: 'month',
}

/** The dimensions of a spec: none, one or two. */
export function dimensionsOf(spec: PartitionSpec): readonly Dimension[] {
  if (spec.kind === 'unpartitioned') return []
  return spec.kind === 'two-dimensional' ? [spec.first, spec.second] : [spec]
}

/** The explicit labels of a dimension; undefined if they are not listed. */
export function writtenLabels(dimension: Dimension): readonly string[] | undefined {
  if (dimension.kind === 'keys') return dimension.keys
  return dimension.kind === 'custom' ? dimension.labels : undefined
}

/** Whether the partitions of a spec are a known finite list. */
export function isListed(spec: PartitionSpec): boolean {
  return dimensionsOf(spec).every((dimension) =>
    isTime(dimension)
      ? dimension.start !== undefined && dimension.end !== undefined
      : writtenLabels(dimension) !== undefined,
  )
}
