import { assertLabel, joinLabel, labelCheck, labelFault, partsOf, shiftLabel, sliceOf } from './label.js'
import {
  assertMapping,
  mostReached,
  pairsOf,
  type Mapping,
  type Pair,
  type PartitionMap,
  type Way,
} from './pairs.js'
import { labelsOf, refuseMoreThan, slicesBetween } from './range.js'
import {
  dimensionsOf,
  isListed,
  isTime,
  maxPartitions,
  wholeLabel,
  type Dimension,
  type PartitionSpec,
} from './spec.js'

/** What a downstream partition needs: each of these labels, or any one. */
export type Needed = { readonly kind: 'each'; readonly labels: readonly string[] } | { readonly kind: 'any' }

/** The downstream labels of an upstream partition; `unlisted` if they cannot be listed or are too many, so each must be checked with `needs`. */
export type Touched =
  | { readonly kind: 'each'; readonly labels: readonly string[] }
  | { readonly kind: 'unlisted' }

/** The upstream partitions that must be done before a downstream partition can be made; only those that exist. */
export function upstreamPartitions(mapping: Mapping, downstreamLabel: string): Needed {
  const { downstream, upstream, map } = mapping
  assertMapping(mapping)
  assertLabel(downstream, downstreamLabel)
  if (map === 'any') return { kind: 'any' }
  return { kind: 'each', labels: neededLabels({ downstream, upstream, map }, downstreamLabel) }
}

/** The downstream partitions that need an upstream partition; only those that exist. */
export function downstreamPartitions(mapping: Mapping, upstreamLabel: string): Touched {
  const { downstream, upstream, map } = mapping
  assertMapping(mapping)
  assertLabel(upstream, upstreamLabel)
  if (map === 'same') return { kind: 'each', labels: existing(downstream, [upstreamLabel]) }
  const pairs = map === 'all' || map === 'any' ? [] : pairsOf(downstream, upstream)
  const isFree = (index: number): boolean => pairs.every(([own]) => own !== index)
  const isKnown = dimensionsOf(downstream).every((dimension, index) => !isFree(index) || isListed(dimension))
  if (!isKnown) return { kind: 'unlisted' }
  const spec = endless(downstream, pairs)
  const way = { to: spec, pairs, from: upstream }
  if (mostReached(way) > maxPartitions) return { kind: 'unlisted' }
  const found = carried(way, upstreamLabel)
  const own = found.flatMap((label) => shifted({ spec, pairs, by: -offsetOf(map) }, label) ?? [])
  return { kind: 'each', labels: existing(downstream, own) }
}

/** Whether a downstream partition needs an upstream partition. */
export function needs(
  mapping: Mapping,
  labels: { readonly downstream: string; readonly upstream: string },
): boolean {
  assertLabel(mapping.upstream, labels.upstream)
  const needed = upstreamPartitions(mapping, labels.downstream)
  return needed.kind === 'any' || needed.labels.includes(labels.upstream)
}

function neededLabels({ downstream, upstream, map }: Mapping, label: string): readonly string[] {
  if (map === 'same') return existing(upstream, [label])
  if (map === 'all') return [...labelsOf(upstream)]
  const pairs = pairsOf(downstream, upstream)
  const from = endless(downstream, pairs)
  const own = shifted({ spec: from, pairs, by: offsetOf(map) }, label)
  const swapped = pairs.map(([one, other]) => [other, one] as const)
  return own === undefined ? [] : carried({ to: upstream, pairs: swapped, from }, own)
}

function offsetOf(map: PartitionMap | undefined): number {
  return typeof map === 'object' ? map.offset : 0
}

/** The labels of one spec that a label of another maps to: paired dimensions follow it, the others are free. */
function carried({ to, pairs, from }: Way, label: string): readonly string[] {
  const parts = partsOf(from, label)
  const sources = dimensionsOf(from)
  const [first, second] = dimensionsOf(to).map((target, index) => {
    const pair = pairs.find(([one]) => one === index)
    const source = pair === undefined ? undefined : sources[pair[1]]
    const part = pair === undefined ? undefined : parts[pair[1]]
    if (source === undefined || part === undefined) return [...labelsOf(target)]
    return reached({ source, part, target })
  })
  if (first === undefined) return [wholeLabel]
  if (second === undefined) return first
  refuseMoreThan(first.length * second.length, maxPartitions)
  return first.flatMap((one) => second.map((other) => joinLabel(one, other)))
}

/** The labels of a dimension that a label of a similar one maps to; the same relation in both directions. */
function reached(way: {
  readonly source: Dimension
  readonly part: string
  readonly target: Dimension
}): readonly string[] {
  const { source, part, target } = way
  if (!isTime(source) || !isTime(target)) return existing(target, [part])
  const { fromAt, untilAt } = sliceOf(source, part)
  return Array.from(slicesBetween(target, fromAt, untilAt), ({ label }) => label)
}

/** A spec whose paired time has no start and no end, so that an offset may leave the range before it is checked. */
function endless(spec: PartitionSpec, pairs: readonly Pair[]): PartitionSpec {
  const [first, second] = dimensionsOf(spec).map((dimension, index): Dimension => {
    const isPaired = pairs.some(([one]) => one === index)
    return isPaired && isTime(dimension) ? { kind: dimension.kind, timezone: dimension.timezone } : dimension
  })
  if (first === undefined) return spec
  return second === undefined ? first : { kind: 'two-dimensional', first, second }
}

/** The label whose paired time is `by` slices away; undefined beyond the calendar. */
function shifted(
  { spec, pairs, by }: { readonly spec: PartitionSpec; readonly pairs: readonly Pair[]; readonly by: number },
  label: string,
): string | undefined {
  if (by === 0) return label
  const parts = dimensionsOf(spec).map((dimension, index) => {
    const part = partsOf(spec, label)[index] ?? ''
    const isMoved = isTime(dimension) && pairs.some(([one]) => one === index)
    return isMoved ? shiftLabel(dimension, part, by) : part
  })
  const [first, second] = parts
  if (parts.includes(undefined) || first === undefined) return undefined
  return second === undefined ? first : joinLabel(first, second)
}

function existing(spec: PartitionSpec, labels: readonly string[]): readonly string[] {
  if (labels.length === 1) return labels.filter((label) => labelFault(spec, label) === undefined)
  const check = labelCheck(spec)
  return labels.filter((label) => check(label) === undefined)
}
