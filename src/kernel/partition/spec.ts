import { zoneOf } from '../../time/zone.js'
import type { SliceGrain, Slicing } from './slice.js'

/** How the data of an asset is cut into partitions: plain data, kept with the definition. */
export type PartitionSpec = Dimension | TwoDimensionalSpec | UnpartitionedSpec

/** What alone, or with another, says which partition is meant. */
export type Dimension = TimeSpec | KeysSpec | CustomSpec

/** Slices of time, end to end, by the calendar of a zone. */
export interface TimeSpec {
  readonly kind: TimeKind
  readonly timezone: string
  /** The label of the first slice; without it they reach back to 1970. */
  readonly start?: string | undefined
  /** The label of the last slice; without it they go on. */
  readonly end?: string | undefined
  /** Whether an instant stands for the slice before the one it falls into, as where a night's run is about yesterday. */
  readonly previous?: boolean | undefined
}

/** The calendars by which time is cut. */
export type TimeKind = 'hourly' | 'daily' | 'weekly' | 'monthly'

/** A fixed list of keys, in its order. */
export interface KeysSpec {
  readonly kind: 'keys'
  readonly keys: readonly string[]
}

/** Labels that the user's own code produces. */
export interface CustomSpec {
  readonly kind: 'custom'
  /** All labels there are, in their order; without it any label is taken and none can be listed. */
  readonly labels?: readonly string[] | undefined
}

/** Every pair of a partition of the one and a partition of the other; its labels are `first|second`. */
export interface TwoDimensionalSpec {
  readonly kind: 'two-dimensional'
  readonly first: Dimension
  readonly second: Dimension
}

/** One piece, with one empty label. */
export interface UnpartitionedSpec {
  readonly kind: 'unpartitioned'
}

/** The kinds of a single dimension, in the order in which they are listed to people. */
export const dimensionKinds = ['hourly', 'daily', 'weekly', 'monthly', 'keys', 'custom'] as const

/** The label of the one piece of data that is not partitioned. */
export const wholeLabel = ''

/** The most partitions that are listed, mapped or planned at once. */
export const maxPartitions = 100_000

/** Whether a dimension is one of time. */
export function isTime(spec: PartitionSpec): spec is TimeSpec {
  return spec.kind === 'hourly' || spec.kind === 'daily' || spec.kind === 'weekly' || spec.kind === 'monthly'
}

/** How a dimension of time cuts the time line. */
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

/** The labels of a dimension that are written down one by one, where they are. */
export function writtenLabels(dimension: Dimension): readonly string[] | undefined {
  if (dimension.kind === 'keys') return dimension.keys
  return dimension.kind === 'custom' ? dimension.labels : undefined
}

/** Whether the partitions of a spec are a finite list that is known beforehand. */
export function isListed(spec: PartitionSpec): boolean {
  return dimensionsOf(spec).every((dimension) =>
    isTime(dimension)
      ? dimension.start !== undefined && dimension.end !== undefined
      : writtenLabels(dimension) !== undefined,
  )
}
