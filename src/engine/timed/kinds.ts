import { planTick } from '../../kernel/tick/tick.js'
import { counted, nextLook, scheduleOf, type ScheduleSpec } from '../../kernel/trigger/schedule.js'
import type { StoredTrigger, Trigger } from '../../kernel/trigger/trigger.js'
import { formatDuration } from '../../time/duration.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { kindsOf, specOf, type Start, type TriggerKind } from '../trigger-kind.js'
import { checkTimed } from './check-job.js'
import { afterFinish } from './after-finish.js'

/** The common part of kinds whose due instants follow from the definition. */
const computed = {
  origin: 'trigger',
  instants: ({ schedule }) => scheduleOf(schedule),
  begin: (trigger, _current, now) => startAfter(trigger, now),
  plan: (due, _facts, now) => planTick(due, now),
  close: (due, _facts, { now }) => planTick(due, now),
  checkJob: checkTimed,
} as const satisfies Partial<TriggerKind>

const cron: TriggerKind = {
  ...computed,
  name: 'cron',
  anchor: (trigger, current, now) => countedFrom(movedFrom(trigger, current, now), current, now),
  dependsOnZoneRules: (trigger) => specOf(trigger, 'cron').timezone !== 'UTC',
  describe: (trigger) => {
    const { expression, timezone } = specOf(trigger, 'cron')
    return timezone === 'UTC' ? expression : `${expression} ${timezone}`
  },
}

/** The kind of triggers on a grid: intervals, and the checks of rounds. */
export const grid = {
  instants: computed.instants,
  // An interval is the same in every zone, but the days of its calendars are not.
  dependsOnZoneRules: ({ schedule }) => (schedule.calendar?.timezone ?? 'UTC') !== 'UTC',
  begin: (trigger, _current, now) => {
    const { immediate, anchorAt } = specOf(trigger, 'interval')
    // With `immediate` the anchor itself is due.
    return startAfter(trigger, immediate === true && anchorAt === now ? now - 1 : now)
  },
  describe: (trigger) => `every ${formatDuration(specOf(trigger, 'interval').everyMs)}`,
} as const satisfies Partial<TriggerKind>

const interval: TriggerKind = {
  ...computed,
  ...grid,
  name: 'interval',
  // The grid keeps its first anchor, also when the interval changes.
  anchor: (trigger, current, now) => {
    const schedule = specOf(trigger, 'interval')
    const before = current?.trigger.schedule
    const anchorAt = schedule.anchorAt ?? (before?.kind === 'interval' ? before.anchorAt : undefined) ?? now
    const anchored = { ...trigger, schedule: { ...schedule, anchorAt } }
    return countedFrom(movedFrom(anchored, current, now), current, now)
  },
}

const once: TriggerKind = {
  ...computed,
  name: 'once',
  isOneShot: true,
  // A one-shot that is overdue when it is defined is due immediately.
  begin: (trigger, current, now) => {
    const { at } = specOf(trigger, 'once')
    return startAfter(trigger, wasPlanned(at, current) ? now : Math.min(now, at - 1))
  },
  describe: (trigger) => `once ${formatInstant(specOf(trigger, 'once').at)}`,
}

/** The kinds of triggers that belong to no feature. */
export const timedKinds = kindsOf([cron, interval, once, afterFinish])

/** A one-shot that vanishes and comes back is not due a second time, even if its run has been pruned. */
function wasPlanned(at: Instant, current: StoredTrigger | undefined): boolean {
  const before = current?.trigger
  if (before?.schedule.kind !== 'once' || !before.enabled) return false
  return before.schedule.at === at && (current?.cursorAt ?? -Infinity) >= at
}

function startAfter({ schedule, enabled }: Trigger, cursorAt: Instant): Start {
  return { cursorAt, nextAt: enabled ? nextLook(schedule, scheduleOf(schedule), cursorAt) : undefined }
}

/** Stores since when excluded instants are moved: earlier ones were decided without this rule. */
function movedFrom(trigger: Trigger, current: StoredTrigger | undefined, now: Instant): Trigger {
  const { calendar } = trigger.schedule
  if (calendar?.onExcluded === undefined || calendar.movesFromAt !== undefined) return trigger
  const before = current?.active === true ? current.trigger.schedule.calendar : undefined
  const movesFromAt = before?.onExcluded === undefined ? now : before.movesFromAt
  const schedule = {
    ...trigger.schedule,
    calendar: { ...calendar, ...(movesFromAt === undefined ? {} : { movesFromAt }) },
  }
  return { ...trigger, schedule }
}

/** Stores the first and last instant of a limited number. An unchanged schedule keeps its first instant. */
function countedFrom(trigger: Trigger, current: StoredTrigger | undefined, now: Instant): Trigger {
  const { schedule } = trigger
  if (schedule.count === undefined) return trigger
  const before = current?.active === true ? current.trigger.schedule : undefined
  const isSame = before !== undefined && uncounted(before) === uncounted(schedule)
  const isAtOnce = schedule.kind === 'interval' && schedule.immediate === true && schedule.anchorAt === now
  const startAt = schedule.startAt ?? (isSame ? before.startAt : undefined) ?? (isAtOnce ? now : now + 1)
  return { ...trigger, schedule: counted(schedule, startAt) }
}

function uncounted({ startAt: _start, endAt: _end, calendar: _calendar, ...spec }: ScheduleSpec): string {
  return JSON.stringify(spec)
}
