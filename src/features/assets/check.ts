import type { AssetSpec } from '../../kernel/partition/asset-spec.js'
import { fault, within, type Place } from '../../kernel/definition/faults.js'
import { RotaError } from '../../kernel/definition/errors.js'
import type { Job } from '../../kernel/job/job.js'
import { checkMapping } from '../../kernel/partition/dependency.js'
import { didYouMean, noneNamed } from '../../kernel/definition/read-value.js'
import type { KnownDefinitions } from '../../kernel/definition/definitions.js'
import { namedText } from '../../text/error-text.js'

/** Reports every dependency that does not exist, that no partition can satisfy, or that is circular. */
export function checkAssets(known: KnownDefinitions, place: Place): void {
  const own = specsOf(known.own)
  const all = new Map([...specsOf(known.others), ...own])
  for (const [name, spec] of own) {
    const deps = within(within(within(place, 'assets'), name), 'deps')
    for (const [index, dep] of spec.deps.entries()) {
      const at = within(deps, index)
      const upstream = all.get(dep.asset)
      if (upstream === undefined) noteUnknown(dep.asset, [...all.keys()], at)
      else if (dep.asset === name && !isEarlier(dep.map)) {
        fault(at, 'a partition cannot depend on itself', 'map { offset: -1 }')
      } else checkMapping({ downstream: spec.partitions, upstream: upstream.partitions, map: dep.map }, at)
    }
    const circle = circleFrom(name, all)
    if (circle !== undefined && circle.toSorted()[0] === name) {
      fault(deps, `each would wait for the other: ${[...circle, name].join(' needs ')}`, 'no circle')
    }
  }
}

/** The error for a schedule of something that is not an asset. */
export function unknownAsset(schedule: string, asset: string, known: readonly string[]): RotaError {
  const message = noneNamed('asset is named', asset, { known, list: 'rota asset list' })
  return new RotaError(
    'JOB_UNKNOWN',
    `schedule ${namedText(schedule)}: ${message}; for a job use app.schedule()`,
  )
}

function specsOf(jobs: ReadonlyMap<string, Job>): ReadonlyMap<string, AssetSpec> {
  return new Map([...jobs].flatMap(([name, { asset }]) => (asset === undefined ? [] : [[name, asset]])))
}

function noteUnknown(name: string, known: readonly string[], place: Place): void {
  fault(place, `no asset is named ${name}${didYouMean(name, known)}`, known.join(', '))
}

function isEarlier(map: AssetSpec['deps'][number]['map']): boolean {
  return typeof map === 'object' && map.offset < 0
}

/** A cycle of dependencies through an asset, if there is one. A direct dependency on itself is allowed. */
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
