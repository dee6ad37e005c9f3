import type { Dependency } from './dependency.js'
import type { PartitionSpec } from './spec.js'

/** What makes a job an asset: how its data is cut, and what it is made from. Plain data, stored with the job. */
export interface AssetSpec {
  readonly partitions: PartitionSpec
  readonly deps: readonly Dependency[]
}
