import type { Instant } from '../../time/instant.js'
import { zoneOf } from '../../time/zone.js'
import { sliceAt, type Slicing } from './slice.js'

/** The length of the time slice that an occurrence is about. */
export type PartitionGrain = 'hour' | 'day' | 'previous-day' | 'week' | 'month'

/** The grains a definition may name. */
export const partitionGrains: readonly PartitionGrain[] = ['hour', 'day', 'previous-day', 'week', 'month']

/** The label of the slice that contains a due instant, in the zone of its trigger; never from a worker's clock. */
export function partitionOf(grain: PartitionGrain, dueAt: Instant, timezone: string): string {
  const zone = zoneOf(timezone)
  if (grain !== 'previous-day') return sliceAt({ grain, zone }, dueAt).label
  const days: Slicing = { grain: 'day', zone }
  return sliceAt(days, sliceAt(days, dueAt).fromAt - 1).label
}
