import type { Instant } from '../../time/instant.js'
import type { Arrival, ArrivalCursor } from './arrival.js'
import type { AssetSpec } from '../../kernel/partition/asset-spec.js'
import { hasBegun } from './backfill/choice.js'
import type { Dependency } from '../../kernel/partition/dependency.js'
import { labelFault } from '../../kernel/partition/label.js'
import { downstreamPartitions, upstreamPartitions } from '../../kernel/partition/map.js'
import type { Mapping } from '../../kernel/partition/pairs.js'
import type { PartitionSpec } from '../../kernel/partition/spec.js'
import type { Candidate } from './plan.js'

/** An asset that follows others, with their partition specs; an asset that no longer exists has no entry. */
export interface Follower {
  readonly name: string
  readonly asset: AssetSpec
  readonly specs: ReadonlyMap<string, PartitionSpec>
}

/** The partitions of a follower that an arrival affects: a list, or the other assets through which they are found. */
export type TouchedBy =
  | { readonly kind: 'each'; readonly labels: readonly string[] }
  /** The affected partitions cannot be listed: those that other dependencies affect are checked. */
  | { readonly kind: 'walk'; readonly deps: readonly Dependency[] }

/** The partitions of a follower that an arrival affects; none if it no longer follows that asset. */
export function touchedBy(follower: Follower, arrival: Arrival): TouchedBy {
  const none: TouchedBy = { kind: 'each', labels: [] }
  const dep = follower.asset.deps.find(({ asset }) => asset === arrival.asset)
  const mapping = dep === undefined ? undefined : mappingOf(follower, dep)
  if (dep === undefined || mapping === undefined) return none
  // A sensor may have named a partition that the asset does not have.
  if (labelFault(mapping.upstream, arrival.partition) !== undefined) return none
  const touched = downstreamPartitions(mapping, arrival.partition)
  if (touched.kind === 'each') return touched
  return { kind: 'walk', deps: follower.asset.deps.filter((other) => other !== dep) }
}

/** The partitions of a follower that a partition of one of its dependencies affects, if they can be listed. */
export function listedBy(follower: Follower, dep: Dependency, label: string): readonly string[] {
  const mapping = mappingOf(follower, dep)
  if (mapping === undefined || labelFault(mapping.upstream, label) !== undefined) return []
  const touched = downstreamPartitions(mapping, label)
  return touched.kind === 'each' ? touched.labels : []
}

/** The arrivals that affect one partition, and whether all of them found it through other assets. */
export interface Touch {
  readonly arrivals: readonly Arrival[]
  readonly isWalked: boolean
}

/** An affected partition with everything it needs; undefined if one of its dependencies no longer exists. */
export function candidateOf(
  follower: Follower,
  label: string,
  { touch, now }: { readonly touch: Touch; readonly now: Instant },
): Candidate | undefined {
  const needs: { asset: string; label: string }[] = []
  const reasons: { run: string; at: Instant }[] = []
  for (const dep of follower.asset.deps) {
    const mapping = mappingOf(follower, dep)
    if (mapping === undefined) return undefined
    const needed = upstreamPartitions(mapping, label)
    if (needed.kind === 'each') {
      for (const one of needed.labels) needs.push({ asset: dep.asset, label: one })
      continue
    }
    const arrived = touch.arrivals.filter(({ asset }) => asset === dep.asset)
    reasons.push(...arrived.map(({ run, at }) => ({ run, at })))
  }
  const isOnlyOwn = touch.arrivals.every(({ asset }) => asset === follower.name)
  const isInTime = !isOnlyOwn || hasBegun(follower.asset.partitions, label, now)
  return { label, needs, reasons, isOnlyIfMissing: touch.isWalked, isInTime }
}

/** The first position in the partitions of other assets. */
export function walkFrom(next: ArrivalCursor | undefined): { readonly dep: number; readonly item: string } {
  return typeof next === 'object' ? next : { dep: 0, item: '' }
}

function mappingOf({ asset, specs }: Follower, dep: Dependency): Mapping | undefined {
  const upstream = specs.get(dep.asset)
  return upstream === undefined ? undefined : { downstream: asset.partitions, upstream, map: dep.map }
}
