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

/** An asset that follows others, with how those are cut; what is not there any more has no entry. */
export interface Follower {
  readonly name: string
  readonly asset: AssetSpec
  readonly specs: ReadonlyMap<string, PartitionSpec>
}

/** The partitions of a follower that an arrival touches: those that can be listed, or by which others they are found. */
export type TouchedBy =
  | { readonly kind: 'each'; readonly labels: readonly string[] }
  /** None of its partitions can be listed from this one: those that others touch are to be looked at. */
  | { readonly kind: 'walk'; readonly deps: readonly Dependency[] }

/** The partitions of a follower that an arrival touches; none where it is no longer one that is followed. */
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

/** The partitions of a follower that a partition of one of its dependencies touches, where they can be listed. */
export function listedBy(follower: Follower, dep: Dependency, label: string): readonly string[] {
  const mapping = mappingOf(follower, dep)
  if (mapping === undefined || labelFault(mapping.upstream, label) !== undefined) return []
  const touched = downstreamPartitions(mapping, label)
  return touched.kind === 'each' ? touched.labels : []
}

/** The arrivals that touch one partition, and whether all of them found it by a walk. */
export interface Touch {
  readonly arrivals: readonly Arrival[]
  readonly isWalked: boolean
}

/** A partition that was touched, with all it needs; undefined where something it is made from is not there any more. */
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

/** Where a walk over the partitions of other assets begins. */
export function walkFrom(next: ArrivalCursor | undefined): { readonly dep: number; readonly item: string } {
  return typeof next === 'object' ? next : { dep: 0, item: '' }
}

function mappingOf({ asset, specs }: Follower, dep: Dependency): Mapping | undefined {
  const upstream = specs.get(dep.asset)
  return upstream === undefined ? undefined : { downstream: asset.partitions, upstream, map: dep.map }
}
