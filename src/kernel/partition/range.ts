import { RotaError } from '../definition/errors.js'
import { boundsOf, invalidLabel, joinLabel, assertLabel, partsOf, sliceOf } from './label.js'
import { countSlices, sliceAfter, sliceAt, type Slice } from './slice.js'
import {
  dimensionsOf,
  isTime,
  maxPartitions,
  slicingOf,
  wholeLabel,
  writtenLabels,
  type Dimension,
  type PartitionSpec,
  type TimeSpec,
} from './spec.js'

/** From one label to another, both included; default: from the first, to the last. */
export interface LabelRange {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/**
 * The labels of a range in order, generated lazily. For two dimensions it is the rectangle between
 * the pairs, the first dimension changing slowly. More than the limit throws before the first one is returned.
 */
export function labelsOf(
  spec: PartitionSpec,
  range: LabelRange = {},
  most = maxPartitions,
): Iterable<string> {
  refuseMoreThan(countLabels(spec, range), most)
  const [first, second] = stretchesOf(spec, range)
  if (first === undefined) return [wholeLabel]
  return second === undefined ? first.labels : pairsOf(first.labels, second.labels)
}

/** How many labels a range has, without listing them. */
export function countLabels(spec: PartitionSpec, range: LabelRange = {}): number {
  return stretchesOf(spec, range).reduce((product, { count }) => product * count, 1)
}

/** Throws if more labels are requested than the limit. */
export function refuseMoreThan(count: number, most: number): void {
  if (count <= most) return
  throw new RotaError('PARTITION_TOO_MANY', `${count} partitions are more than the limit of ${most}`)
}

/** Consecutive labels and their count. */
interface Stretch {
  readonly count: number
  readonly labels: Iterable<string>
}

function stretchesOf(spec: PartitionSpec, { from, to }: LabelRange): readonly Stretch[] {
  for (const label of [from, to]) if (label !== undefined) assertLabel(spec, label)
  const froms = from === undefined ? [] : partsOf(spec, from)
  const tos = to === undefined ? [] : partsOf(spec, to)
  return dimensionsOf(spec).map((dimension, index) =>
    stretchOf(dimension, { from: froms[index], to: tos[index] }),
  )
}

function stretchOf(dimension: Dimension, range: LabelRange): Stretch {
  if (isTime(dimension)) return timeStretch(dimension, range)
  const labels = writtenLabels(dimension)
  if (labels !== undefined) return writtenStretch(labels, range)
  if (range.from !== undefined && range.from === range.to) return { count: 1, labels: [range.from] }
  throw invalidLabel({
    refused: 'custom labels without a list have no order and cannot be listed',
    allowed: 'the labels one by one, or a list of them in the definition',
  })
}

function writtenStretch(labels: readonly string[], { from, to }: LabelRange): Stretch {
  const first = from === undefined ? 0 : labels.indexOf(from)
  const last = to === undefined ? labels.length - 1 : labels.indexOf(to)
  refuseReversed(first > last, { from, to })
  return { count: last - first + 1, labels: labels.slice(first, last + 1) }
}

function timeStretch(spec: TimeSpec, range: LabelRange): Stretch {
  const first = endOf(spec, range.from ?? spec.start, 'from')
  const last = endOf(spec, range.to ?? spec.end, 'to')
  refuseReversed(first.fromAt > last.fromAt, { from: first.label, to: last.label })
  return {
    count: countSlices(slicingOf(spec), first, last),
    labels: {
      *[Symbol.iterator]() {
        for (const slice of slicesBetween(spec, first.fromAt, last.untilAt)) yield slice.label
      },
    },
  }
}

function endOf(spec: TimeSpec, label: string | undefined, side: 'from' | 'to'): Slice {
  if (label !== undefined) return sliceOf(spec, label)
  throw invalidLabel({
    refused: `a range of ${spec.kind} partitions that has no ${side}`,
    allowed: `a label, or ${side === 'from' ? 'start' : 'end'} in the definition`,
  })
}

/** The slices of a spec that overlap a time range, in order. */
export function* slicesBetween(spec: TimeSpec, fromAt: number, untilAt: number): Generator<Slice> {
  const slicing = slicingOf(spec)
  const bounds = boundsOf(spec)
  const end = Math.min(untilAt, bounds.untilAt)
  const begin = Math.max(fromAt, bounds.fromAt)
  let slice = begin < end ? sliceAt(slicing, begin) : undefined
  while (slice !== undefined && slice.fromAt < end) {
    yield slice
    slice = sliceAfter(slicing, slice)
  }
}

function* pairsOf(first: Iterable<string>, second: Iterable<string>): Generator<string> {
  for (const one of first) for (const other of second) yield joinLabel(one, other)
}

function refuseReversed(isReversed: boolean, { from, to }: LabelRange): void {
  if (!isReversed) return
  throw invalidLabel({
    refused: `the range from ${from} to ${to} is reversed`,
    allowed: `from ${to} to ${from}`,
  })
}
