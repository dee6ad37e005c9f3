import { cronSchedule, type DstPolicy } from '../time/cron.js'
import type { Instant } from '../time/instant.js'
import { intervalSchedule } from '../time/interval.js'
import { onceSchedule } from '../time/once.js'
import { bounded, type Schedule } from '../time/schedule.js'

/** When a trigger is due, as data: everything its due instants depend on and nothing else. */
export type ScheduleSpec = (CronSpec | IntervalSpec | AfterFinishSpec | OnceSpec) & {
  /** No instant before it. */
  readonly startAt?: Instant | undefined
  /** No instant after it. */
  readonly endAt?: Instant | undefined
}

/** Due whenever the expression matches the local time of the zone. */
export interface CronSpec {
  readonly kind: 'cron'
  readonly expression: string
  readonly timezone: string
  readonly dst?: DstPolicy | undefined
}

/** Due on a durable grid: the anchor and every so many milliseconds after it. */
export interface IntervalSpec {
  readonly kind: 'interval'
  readonly everyMs: number
  /** The instant of first definition where none is given; it is then kept. */
  readonly anchorAt?: Instant | undefined
  /** Whether the anchor itself is due too. */
  readonly immediate?: boolean | undefined
}

/** Due so many milliseconds after the previous run became final. */
export interface AfterFinishSpec {
  readonly kind: 'after-finish'
  readonly everyMs: number
  readonly immediate?: boolean | undefined
}

/** Due once. */
export interface OnceSpec {
  readonly kind: 'once'
  readonly at: Instant
}

/** The due instants of a spec, which can be computed for every kind but after-finish. */
export function scheduleOf(spec: ScheduleSpec): Schedule {
  return bounded(unbounded(spec), spec)
}

function unbounded(spec: ScheduleSpec): Schedule {
  switch (spec.kind) {
    case 'cron':
      return cronSchedule(spec.expression, { timezone: spec.timezone, dst: spec.dst })
    case 'interval':
      return intervalSchedule({
        everyMs: spec.everyMs,
        anchorAt: spec.anchorAt ?? 0,
        immediate: spec.immediate,
      })
    case 'once':
      return onceSchedule(spec.at)
    case 'after-finish':
      // Its due instants are facts written when a run becomes final, not something to compute.
      return { next: () => undefined, previous: () => undefined }
  }
}
