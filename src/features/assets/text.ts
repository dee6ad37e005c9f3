import type { AssetInfo } from './status.js'
import type { PartitionSpec } from '../../kernel/partition/spec.js'
import type { PartitionState } from './partition-state.js'
import { timedKinds } from '../../engine/timed/kinds.js'
import { describeTrigger } from '../../engine/trigger-kind.js'
import { count } from '../../cli/framework/print/words.js'
import type { Colors } from '../../cli/framework/print/output.js'

/** The partitions of an asset, in a few words. */
export function partitionsText(spec: PartitionSpec): string {
  switch (spec.kind) {
    case 'unpartitioned':
      return ''
    case 'keys':
      return count(spec.keys.length, 'key')
    case 'custom':
      return spec.labels === undefined ? 'custom' : `${spec.labels.length} labels`
    case 'two-dimensional':
      return `${partitionsText(spec.first)} × ${partitionsText(spec.second)}`
    case 'hourly':
    case 'daily':
    case 'weekly':
    case 'monthly':
      return spec.timezone === 'UTC' ? spec.kind : `${spec.kind} ${spec.timezone}`
  }
}

/** The dependencies of an asset, in a few words. */
export function depsText(deps: AssetInfo['deps']): string {
  return deps
    .map(({ asset, map }) => {
      if (map === undefined) return asset
      return `${asset} (${typeof map === 'object' ? `offset ${map.offset}` : map})`
    })
    .join(', ')
}

/** When an asset is produced, in a few words. */
export function whenText({ follows, schedules }: AssetInfo): string {
  const timed = schedules.map(({ trigger }) => describeTrigger(timedKinds, trigger))
  return [...(follows ? ['when upstream is done'] : []), ...timed].join('; ')
}

/** The colour of each state. */
export const stateColors: Readonly<Record<PartitionState, keyof Colors>> = {
  missing: 'dim',
  running: 'cyan',
  done: 'green',
  failed: 'red',
  stale: 'yellow',
}
