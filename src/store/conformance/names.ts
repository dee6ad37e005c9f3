import type { AssetSpec } from '../../kernel/partition/asset-spec.js'
import type { HoldTarget } from '../../kernel/hold/hold.js'
import { hourly } from '../../kernel/partition/define.js'
import type { ScheduleSpec } from '../../kernel/trigger/schedule.js'
import type { OverlapPolicy } from '../../kernel/trigger/trigger.js'
import type { Instant } from '../../time/instant.js'
import { minute, t0 } from './stage.js'

/** The jobs of a story. */
export const jobNames = ['work', 'limited', 'other']

/** When a story begins: shortly before the last partition of its asset ends. */
export const storyAt: Instant = t0 + 57 * minute

/** The asset part of a job's definition. */
export function assetOf(job: string): AssetSpec | undefined {
  return job === 'other' ? { partitions: hourly({ end: lastHour }), deps: [] } : undefined
}

const lastHour = `${new Date(t0).toISOString().slice(0, 13)}:00Z`

/** The triggers of a story. */
export const triggerNames = ['a', 'b', 'c', 'd']

/** The overlap policy of a trigger. */
export const overlaps: readonly OverlapPolicy[] = [
  'allow',
  'skip',
  'queue-one',
  'queue-all',
  'cancel-running',
  'terminate-running',
]

/** The targets of holds. */
export const targets: readonly HoldTarget[] = [
  'trigger:a',
  'trigger:b',
  'trigger:c',
  'trigger:d',
  'queue:q',
  'queue:default',
  'all',
  'switch:pipeline',
  'switch:scheduler',
  'switch:worker',
]

/** A schedule of some kind. */
export function scheduleOfShape(shape: number, now: Instant): ScheduleSpec {
  switch (shape % 6) {
    case 0:
      return { kind: 'after-finish', everyMs: 15_000 }
    case 1:
      return { kind: 'once', at: now + 20_000 }
    case 2:
      return { kind: 'interval', everyMs: 7000, anchorAt: t0 }
    case 3:
      return { kind: 'upstream', assets: jobNames.slice(shape % 2) }
    case 4:
      return { kind: 'sensor', type: 'x', everyMs: 9000, timeoutMs: 9000, timezone: 'UTC' }
    default:
      return { kind: 'interval', everyMs: 20_000, anchorAt: t0 }
  }
}

/** The item of a list that a number selects. */
export function at<T>(list: readonly T[], index: number): T {
  return list[index % list.length] as T
}
