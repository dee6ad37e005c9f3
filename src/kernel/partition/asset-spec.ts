import type { Dependency } from './dependency.js'
import type { PartitionSpec } from './spec.js'

/** The asset part of a job: how its data is partitioned, and its upstream assets. Plain data, stored with the job. */
export interface AssetSpec {
  readonly partitions: PartitionSpec
  readonly deps: readonly Dependency[]
}
