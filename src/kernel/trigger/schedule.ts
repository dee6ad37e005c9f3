import { cronSchedule } from '../../time/cron/schedule.js'
import type { DstPolicy } from '../../time/cron/dst.js'
import type { Instant } from '../../time/instant.js'
import { intervalSchedule } from '../../time/interval.js'
import { onceSchedule } from '../../time/once.js'
import { bounded, type Schedule } from '../../time/schedule.js'
import { exclusionAt, YEAR_MS, type CalendarRules } from '../calendar/calendar.js'
import { movedSchedule } from '../calendar/moved-schedule.js'

/** When a trigger is due, as data: exactly what its due instants depend on. */
export type ScheduleSpec = (
  | CronSpec
  | IntervalSpec
  | AfterFinishSpec
  | OnceSpec
  | SensorSpec
  | UpstreamSpec
) & {
  /** No instant before it. */
  readonly startAt?: Instant | undefined
  /** No instant after it. */
  readonly endAt?: Instant | undefined
  /** How many instants there are, from `startAt`; once it is stored, `endAt` is the last of them. */
  readonly count?: number | undefined
  /** What excludes or moves instants. */
  readonly calendar?: CalendarRules | undefined
}

/** Due whenever the expression matches the local time of the zone. */
export interface CronSpec {
  readonly kind: 'cron'
  readonly expression: string
  readonly timezone: string
  readonly dst?: DstPolicy | undefined
}

/** Due on a durable grid: at the anchor plus multiples of `everyMs`. */
export interface IntervalSpec {
  readonly kind: 'interval'
  readonly everyMs: number
  /** Default: the instant of the first definition, which is then stored. */
  readonly anchorAt?: Instant | undefined
  /** Whether the anchor itself is due too. */
  readonly immediate?: boolean | undefined
  /** One more due instant outside the grid, for a round whose list was replaced. */
  readonly alsoAt?: Instant | undefined
}

/** Due `everyMs` after the previous run became final. */
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

/** Polled by a sensor, `everyMs` after the end of the previous poll. */
export interface SensorSpec {
  readonly kind: 'sensor'
  /** What kind of sensor it is, for lists. */
  readonly type: string
  readonly everyMs: number
  /** How long one poll may take. */
  readonly timeoutMs: number
  /** The zone in which days are counted. */
  readonly timezone: string
  /** How long an observation is remembered; absent: forever. */
  readonly dedupeMs?: number | undefined
  /** What makes two observations the same: the key alone, or key and partition. */
  readonly dedupeBy?: 'key' | 'key-and-partition' | undefined
  /** It is paused after this many failed polls in a row. */
  readonly pauseAfter?: number | undefined
}

/** Due for a partition when all upstream partitions it needs are done. */
export interface UpstreamSpec {
  readonly kind: 'upstream'
  readonly assets: readonly string[]
}

/** The zone of a trigger's schedule. */
export function timezoneOf(schedule: ScheduleSpec): string {
  return schedule.kind === 'cron' ? schedule.timezone : 'UTC'
}

/** The due instants of a spec, if they can be computed. */
export function scheduleOf(spec: ScheduleSpec): Schedule {
  const known = schedules.get(spec)
  if (known !== undefined) return known
  const fresh = newSchedule(spec)
  schedules.set(spec, fresh)
  return fresh
}

/** An expression is parsed once, not at every tick of its trigger. */
const schedules = new WeakMap<ScheduleSpec, Schedule>()

function newSchedule(spec: ScheduleSpec): Schedule {
  const base = bounded(unbounded(spec), spec)
  return spec.calendar?.onExcluded === undefined ? base : movedSchedule(base, spec.calendar)
}

/** The next instant at which a trigger must be planned: the next due one that is not excluded. */
export function nextLook(
  { calendar }: ScheduleSpec,
  schedule: Schedule,
  after: Instant,
): Instant | undefined {
  let at = schedule.next(after)
  if (calendar === undefined) return at
  while (at !== undefined && at <= after + YEAR_MS) {
    const { by, untilAt } = exclusionAt(calendar, at)
    if (by === undefined) return at
    at = schedule.next(untilAt - 1)
  }
  return at
}

/** A schedule with a limited number of instants, with its first and last instant computed. */
export function counted(spec: ScheduleSpec, startAt: Instant): ScheduleSpec {
  if (spec.count === undefined) return spec
  const schedule = bounded(unbounded(spec), { ...spec, startAt })
  let endAt = schedule.next(-Infinity)
  for (let left = spec.count - 1; left > 0 && endAt !== undefined; left--)
    endAt = schedule.next(endAt) ?? endAt
  return endAt === undefined ? spec : { ...spec, startAt, endAt }
}

function unbounded(spec: ScheduleSpec): Schedule {
  switch (spec.kind) {
    case 'cron':
      return cronSchedule(spec.expression, { timezone: spec.timezone, dst: spec.dst })
    case 'interval':
      return withAlso(gridOf(spec), spec.alsoAt)
    case 'once':
      return onceSchedule(spec.at)
    case 'after-finish':
    case 'sensor':
    case 'upstream':
      // Their due instants come from events: the end of a run, or an observation.
      return { next: () => undefined, previous: () => undefined }
  }
}

/** The grid of an interval, without `alsoAt`. */
export function gridOf({ everyMs, anchorAt = 0, immediate }: IntervalSpec): Schedule {
  return intervalSchedule({ everyMs, anchorAt, immediate })
}

function withAlso(grid: Schedule, alsoAt: Instant | undefined): Schedule {
  if (alsoAt === undefined) return grid
  return {
    next: (after) => (alsoAt > after ? Math.min(alsoAt, grid.next(after) ?? alsoAt) : grid.next(after)),
    previous: (before) =>
      alsoAt < before ? Math.max(alsoAt, grid.previous(before) ?? alsoAt) : grid.previous(before),
  }
}
