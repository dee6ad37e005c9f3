import type { AssetSpec } from '../../kernel/partition/asset-spec.js'
import { fault, within, type Place } from '../../kernel/definition/faults.js'
import type { Job } from '../../kernel/job/job.js'
import { timezoneOf } from '../../kernel/identity/occurrence.js'
import { checkMapping } from '../../kernel/partition/dependency.js'
import { checkPartitionRule } from '../../kernel/partition/rule.js'
import { didYouMean } from '../../kernel/definition/read-value.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'

/** What is known about all the assets there are. */
export interface KnownAssets {
  /** Those that are being defined; only they are checked. */
  readonly own: ReadonlyMap<string, AssetSpec>
  /** Those that others defined. */
  readonly others: ReadonlyMap<string, AssetSpec>
}

/** Notes every dependency that leads nowhere, cannot hold between its two assets, or leads back to where it began. */
export function checkAssets({ own, others }: KnownAssets, place: Place): void {
  const all = new Map([...others, ...own])
  for (const [name, spec] of own) {
    const deps = within(within(place, name), 'deps')
    for (const [index, dep] of spec.deps.entries()) {
      const at = within(deps, index)
      const upstream = all.get(dep.asset)
      if (upstream === undefined) noteUnknown(dep.asset, [...all.keys()], at)
      else if (dep.asset === name && !isEarlier(dep.map)) {
        fault(at, 'an asset cannot be made from the very partition that is made', 'map { offset: -1 }')
      } else checkMapping({ downstream: spec.partitions, upstream: upstream.partitions, map: dep.map }, at)
    }
    const circle = circleFrom(name, all)
    if (circle !== undefined && circle.toSorted()[0] === name) {
      fault(deps, `each would wait for the other: ${[...circle, name].join(' needs ')}`, 'no circle')
    }
  }
}

/** Notes why a trigger cannot make runs of its jobs, of which some may be assets. */
export function checkTrigger(trigger: Trigger, jobs: readonly Job[], place: Place): void {
  const { schedule, round, partition } = trigger
  if (schedule.kind === 'sensor' || schedule.kind === 'upstream') return
  const asset = jobs.find((job) => job.asset !== undefined)
  if (round !== undefined && asset !== undefined) {
    fault(
      within(place, 'services'),
      `${asset.name} is an asset and has no one state`,
      'jobs that are no assets',
    )
    return
  }
  if (schedule.kind === 'after-finish' && asset !== undefined) {
    fault(within(place, 'after'), 'an asset is not due after its own end', 'cron, or every on its grid')
  }
  const spec = asset?.asset?.partitions
  const due = { rule: partition, spec, timezone: timezoneOf(schedule) }
  checkPartitionRule(due, schedule.kind === 'cron', within(place, 'partition'))
}

function noteUnknown(name: string, known: readonly string[], place: Place): void {
  fault(place, `no asset is named ${name}${didYouMean(name, known)}`, known.join(', '))
}

function isEarlier(map: AssetSpec['deps'][number]['map']): boolean {
  return typeof map === 'object' && map.offset < 0
}

/** The way along dependencies that leads from an asset back to it, where there is one; not the one step to itself. */
function circleFrom(start: string, all: ReadonlyMap<string, AssetSpec>): readonly string[] | undefined {
  const seen = new Set<string>()
  const walk = (name: string, way: readonly string[]): readonly string[] | undefined => {
    for (const { asset } of all.get(name)?.deps ?? []) {
      if (asset === name) continue
      if (asset === start) return way
      if (seen.has(asset)) continue
      seen.add(asset)
      const found = walk(asset, [...way, asset])
      if (found !== undefined) return found
    }
    return undefined
  }
  return walk(start, [start])
}
