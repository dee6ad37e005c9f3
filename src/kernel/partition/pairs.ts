import { RotaError } from '../definition/errors.js'
import { countLabels } from './range.js'
import {
  dimensionsOf,
  isListed,
  isTime,
  maxPartitions,
  type Dimension,
  type PartitionSpec,
  type TimeKind,
} from './spec.js'
import type { Refusal } from './text.js'

/**
 * Which upstream partitions one downstream partition needs. Default: for each dimension, every slice of time
 * that overlaps its own, and the same key.
 * `same`: the one with the same label, in any zone.
 * `time`: like the default, and an error if the two have no time dimension in common.
 * `all`: every upstream partition, which must be a finite list.
 * `any`: no particular one: each completed one triggers downstream.
 * `offset`: what the slice that many steps away would need: −1 is the previous one.
 */
export type PartitionMap = 'same' | 'time' | 'all' | 'any' | { readonly offset: number }

/** The partitions of a downstream and an upstream asset, and their map. */
export interface Mapping {
  readonly downstream: PartitionSpec
  readonly upstream: PartitionSpec
  readonly map?: PartitionMap | undefined
}

/** The index of a downstream dimension, and that of the matching upstream dimension. */
export type Pair = readonly [downstream: number, upstream: number]

/** Which dimensions of two specs match: time with time, keys with keys; in their order if possible. */
export function pairsOf(downstream: PartitionSpec, upstream: PartitionSpec): readonly Pair[] {
  const own = dimensionsOf(downstream)
  const others = dimensionsOf(upstream)
  const size = Math.min(own.length, others.length)
  const ways: readonly (readonly Pair[])[] =
    size === 2
      ? [
          [
            [0, 0],
            [1, 1],
          ],
          [
            [0, 1],
            [1, 0],
          ],
        ]
      : own.flatMap((_, one) => others.map((__, other) => [[one, other] as const]))
  const fits = ([one, other]: Pair): boolean => isLike(own[one], others[other])
  return ways.find((way) => way.every(fits)) ?? []
}

function isLike(one: Dimension | undefined, other: Dimension | undefined): boolean {
  return one !== undefined && other !== undefined && isTime(one) === isTime(other)
}

/** Why two specs cannot be mapped in the requested way, and which ways are possible. */
export function mappingFault(mapping: Mapping): Refusal | undefined {
  const { downstream, upstream, map } = mapping
  if (map === 'any') return undefined
  if (map === 'all') return isListed(upstream) ? sizeFault({ ...mapping, pairs: [] }) : unlisted
  if (upstream.kind === 'unpartitioned') return map === undefined ? undefined : wholeUpstream
  if (downstream.kind === 'unpartitioned') return wholeDownstream
  if (map === 'same') return haveSameLabels(downstream, upstream) ? undefined : otherLabels
  return fittingFault(mapping)
}

/** Throws if two specs cannot be mapped in the requested way. */
export function assertMapping(mapping: Mapping): void {
  const refused = mappingFault(mapping)
  if (refused === undefined) return
  throw new RotaError('DEFINITION_INVALID', `${refused.refused} (allowed: ${refused.allowed})`)
}

const unlisted: Refusal = {
  refused: 'all of its partitions cannot be listed',
  allowed: 'all with keys, with a list of labels, or with time that has start and end; otherwise any',
}
const wholeUpstream: Refusal = {
  refused: 'the upstream asset has no partitions to choose from',
  allowed: 'no map',
}
const wholeDownstream: Refusal = {
  refused: 'it is unclear which of its partitions an asset without partitions needs',
  allowed: 'map all: follows when every one is done; map any: follows each one that is done',
}
const otherLabels: Refusal = {
  refused: 'the two assets never have the same label',
  allowed: 'same with the same kind of partitions, and for hours in the same zone',
}
const nothingInCommon: Refusal = {
  refused: 'the partitions of the two assets have nothing in common',
  allowed: 'map all or any',
}
const noTime: Refusal = {
  refused: 'the two assets do not have one dimension of time in common',
  allowed: 'time and offset only between partitions of time',
}
const freeDimension: Refusal = {
  refused: 'its other dimension cannot be listed, so it is unknown when all of it is done',
  allowed: 'keys, a list of labels, or time that has start and end',
}

function fittingFault({ downstream, upstream, map }: Mapping): Refusal | undefined {
  const pairs = pairsOf(downstream, upstream)
  if (pairs.length === 0) return nothingInCommon
  const own = dimensionsOf(downstream)
  const times = pairs.filter(([one]) => isTime(own[one] as Dimension)).length
  if (map !== undefined && times !== 1 && (map !== 'time' || times === 0)) return noTime
  const isFree = (index: number): boolean => pairs.every(([, other]) => other !== index)
  const isKnown = dimensionsOf(upstream).every((dimension, index) => !isFree(index) || isListed(dimension))
  return isKnown ? sizeFault({ downstream, upstream, pairs }) : freeDimension
}

function sizeFault(way: {
  downstream: PartitionSpec
  upstream: PartitionSpec
  pairs: readonly Pair[]
}): Refusal | undefined {
  const { downstream, upstream, pairs } = way
  const swapped = pairs.map(([one, other]) => [other, one] as const)
  const most = mostReached({ to: upstream, pairs: swapped, from: downstream })
  if (most <= maxPartitions) return undefined
  return { refused: `one partition may need ${most} of it`, allowed: `at most ${maxPartitions}` }
}

/** An upper bound of how many labels of one spec a label of another maps to, if the unpaired dimensions can be listed. */
export function mostReached({ to, pairs, from }: Way): number {
  const sources = dimensionsOf(from)
  return dimensionsOf(to).reduce((product, target, index) => {
    const pair = pairs.find(([one]) => one === index)
    const source = pair === undefined ? undefined : sources[pair[1]]
    if (source === undefined) return product * countLabels(target)
    if (!isTime(source) || !isTime(target)) return product
    // At each end a slice may overlap only partly.
    return product * (Math.ceil(hours[source.kind] / hours[target.kind]) + 2)
  }, 1)
}

/** How labels of one spec map to those of another; each pair has the index of the target first. */
export interface Way {
  readonly to: PartitionSpec
  readonly pairs: readonly Pair[]
  readonly from: PartitionSpec
}

const hours: Readonly<Record<TimeKind, number>> = { hourly: 1, daily: 24, weekly: 168, monthly: 744 }

function haveSameLabels(downstream: PartitionSpec, upstream: PartitionSpec): boolean {
  const own = dimensionsOf(downstream)
  const others = dimensionsOf(upstream)
  return own.length === others.length && own.every((one, index) => haveSame(one, others[index] as Dimension))
}

function haveSame(one: Dimension, other: Dimension): boolean {
  // Custom labels may be anything, dates included.
  if (one.kind === 'custom' || other.kind === 'custom') return true
  if (!isTime(one) || !isTime(other)) return one.kind === other.kind
  return one.kind === other.kind && (one.kind !== 'hourly' || one.timezone === other.timezone)
}
