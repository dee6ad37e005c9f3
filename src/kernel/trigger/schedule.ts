import { cronSchedule } from '../../time/cron/schedule.js'
import type { DstPolicy } from '../../time/cron/dst.js'
import type { Instant } from '../../time/instant.js'
import { intervalSchedule } from '../../time/interval.js'
import { onceSchedule } from '../../time/once.js'
import { bounded, type Schedule } from '../../time/schedule.js'
import { exclusionAt, YEAR_MS, type CalendarRules } from '../calendar/calendar.js'
import { movedSchedule } from '../calendar/moved-schedule.js'

/** When a trigger is due, as data: everything its due instants depend on and nothing else. */
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
  /** How many instants there are; where it begins is `startAt`, and the last of them is `endAt` once it is stored. */
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

/** Due on a durable grid: the anchor and every so many milliseconds after it. */
export interface IntervalSpec {
  readonly kind: 'interval'
  readonly everyMs: number
  /** The instant of first definition where none is given; it is then kept. */
  readonly anchorAt?: Instant | undefined
  /** Whether the anchor itself is due too. */
  readonly immediate?: boolean | undefined
  /** One more due instant beside the grid, as a round has it whose list was replaced. */
  readonly alsoAt?: Instant | undefined
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

/** Looked for by a sensor, so many milliseconds after the end of the poll before. */
export interface SensorSpec {
  readonly kind: 'sensor'
  /** What kind of sensor it is, for lists. */
  readonly type: string
  readonly everyMs: number
  /** How long one poll may take. */
  readonly timeoutMs: number
  /** The zone in which days are counted. */
  readonly timezone: string
  /** How long an observation is remembered where not forever. */
  readonly dedupeMs?: number | undefined
  /** What makes two observations the same: the key alone, or key and partition. */
  readonly dedupeBy?: 'key' | 'key-and-partition' | undefined
  /** After so many failed polls in a row it is paused. */
  readonly pauseAfter?: number | undefined
}

/** Due for a partition when the assets it follows have done what it needs. */
export interface UpstreamSpec {
  readonly kind: 'upstream'
  readonly assets: readonly string[]
}

/** The zone of a trigger's schedule. */
export function timezoneOf(schedule: ScheduleSpec): string {
  return schedule.kind === 'cron' ? schedule.timezone : 'UTC'
}

/** The due instants of a spec, where they can be computed. */
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

/** The next instant at which a trigger has to be looked at: the next due one that nothing excludes, so that an excluded year costs one look. */
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

/** A schedule whose number of instants is limited, with its first and last one written down. */
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
      // Their due instants are facts: the end of a run, something that was found.
      return { next: () => undefined, previous: () => undefined }
  }
}

/** The grid of an interval alone. */
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
