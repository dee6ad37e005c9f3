import * as label from '../kernel/partition/label.js'
import type { PartitionSpec, TimeSpec } from '../kernel/partition/spec.js'
import { dated } from '../time/dated.js'
import type { Slice } from './public-types.js'

/** The label of an instant, for time partitions; undefined if time alone does not determine the partition. */
export function labelAt(spec: PartitionSpec, at: Date): string | undefined {
  return label.labelAt(spec, at.getTime())
}

/** The time range of a label; throws if the label is invalid. */
export function sliceOf(spec: TimeSpec, text: string): Slice {
  return dated(label.sliceOf(spec, text))
}
