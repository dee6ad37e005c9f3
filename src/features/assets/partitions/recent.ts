import { boundsOf, joinLabel, labelAt } from '../../../kernel/partition/label.js'
import { labelsOf } from '../../../kernel/partition/range.js'
import { sliceAt, sliceBefore, type Slice } from '../../../kernel/partition/slice.js'
import {
  dimensionsOf,
  isListed,
  isTime,
  slicingOf,
  wholeLabel,
  type Dimension,
  type PartitionSpec,
  type TimeSpec,
} from '../../../kernel/partition/spec.js'
import type { Instant } from '../../../time/instant.js'

/** The newest partitions of a spec up to an instant, oldest first: the last ones of time, or all keys; undefined if they cannot be listed. */
export function recentPartitions(
  spec: PartitionSpec,
  { now, most }: { readonly now: Instant; readonly most: number },
): readonly string[] | undefined {
  const [first, second] = dimensionsOf(spec)
  if (first === undefined) return [wholeLabel]
  if (second === undefined) return recentOf(first, now, most)
  const seconds = recentOf(second, now, most)
  if (seconds === undefined || seconds.length === 0) return seconds
  const firsts = recentOf(first, now, Math.max(1, Math.floor(most / seconds.length)))
  return firsts?.flatMap((one) => seconds.map((other) => joinLabel(one, other)))
}

function recentOf(dimension: Dimension, now: Instant, most: number): readonly string[] | undefined {
  if (isTime(dimension)) return recentSlices(dimension, now, most)
  return isListed(dimension) ? [...labelsOf(dimension)].slice(0, most) : undefined
}

function recentSlices(spec: TimeSpec, now: Instant, most: number): readonly string[] {
  const slicing = slicingOf(spec)
  const { fromAt, untilAt } = boundsOf(spec)
  if (now < fromAt) return []
  const labels: string[] = []
  let slice: Slice | undefined = sliceAt(slicing, Math.min(now, untilAt - 1))
  // With `previous`, the partition of an instant is the one before.
  if (spec.previous === true && labelAt(spec, now) !== undefined) slice = sliceBefore(slicing, slice)
  while (slice !== undefined && labels.length < most && slice.untilAt > fromAt) {
    labels.push(slice.label)
    slice = sliceBefore(slicing, slice)
  }
  return labels.toReversed()
}
