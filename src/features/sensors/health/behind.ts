import { formatDuration } from '../../../time/duration.js'
import type { SensorFacts } from '../plan.js'

/** The delay from which a poll counts as late. */
export const lateMs = 60_000

/** Whether a poll began too late: by a minute, or by its interval if that is longer. */
export function isBehind({ record, spec }: Pick<SensorFacts, 'record' | 'spec'>): boolean {
  return record.lagMs >= Math.max(lateMs, spec.everyMs)
}

/** A delay in whole seconds. */
export function delayText(ms: number): string {
  return formatDuration(Math.floor(ms / 1000) * 1000)
}
