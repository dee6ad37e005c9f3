/** Definitions as `--json` and the API show them: lists of fields, in camelCase. */
import type { CalendarRules } from '../../kernel/calendar/calendar.js'
import type { Hold } from '../../kernel/hold/hold.js'
import type { Job } from '../../kernel/job/job.js'
import type { ScheduleSpec } from '../../kernel/trigger/schedule.js'
import type { StoredTrigger, TriggerVersion } from '../../kernel/trigger/trigger.js'
import type { StoredJob } from '../../store/port.js'
import { pick } from '../to-json.js'

/** A trigger with its cursor. */
export function triggerView(stored: StoredTrigger, state: string) {
  const { trigger, nextAt, cursorAt, definedAt, active, source, version } = stored
  const { name, job, enabled, catchUp, overlap, jitterMs, spreadMs, priority, partition, payload } = trigger
  // Field by field: a page has hundreds of triggers, and spreads take ten times as long.
  return {
    name,
    job,
    state,
    schedule: scheduleView(trigger.schedule),
    nextAt,
    cursorAt,
    definedAt,
    active,
    enabled,
    source,
    version,
    catchUp: { ...catchUp, maxAgeMs: catchUp.maxAgeMs },
    overlap,
    jitterMs,
    spreadMs,
    priority,
    pauseAfter: trigger.pauseAfter,
    sla: trigger.sla,
    partition,
    payload,
    services: trigger.round?.services,
  }
}

/** One definition of a trigger, and when it was in force. */
export function versionView({ version, validFrom, validUntil, tzdata, trigger }: TriggerVersion) {
  return { version, validFromAt: validFrom, validUntil, tzdata, trigger }
}

/** A schedule with its defaults; the other settings of a sensor are the feature's own. */
function scheduleView({ calendar, ...schedule }: ScheduleSpec) {
  const bounds = {
    ...pick(schedule, ['startAt', 'endAt']),
    ...(schedule.count === undefined ? {} : { count: schedule.count }),
    ...(calendar === undefined ? {} : { calendar: rulesView(calendar) }),
  }
  switch (schedule.kind) {
    case 'cron':
      return { ...schedule, dst: schedule.dst ?? 'vixie', ...bounds }
    case 'interval':
      return {
        ...pick(schedule, ['kind', 'everyMs', 'anchorAt']),
        immediate: schedule.immediate ?? false,
        ...bounds,
      }
    case 'after-finish':
      return { ...schedule, immediate: schedule.immediate ?? false, ...bounds }
    case 'sensor':
      return { ...pick(schedule, ['kind', 'type', 'everyMs', 'timeoutMs', 'timezone']), ...bounds }
    case 'once':
    case 'upstream':
      return { ...schedule, ...bounds }
  }
}

/** Calendars by name; their times are with the calendars themselves. */
function rulesView({ timezone, include = [], exclude = [], blackouts = [], onExcluded }: CalendarRules) {
  return {
    timezone,
    include: include.map(({ name }) => name),
    exclude: exclude.map(({ name }) => name),
    onExcluded: onExcluded ?? 'skip',
    blackouts: blackouts.map(({ note }) => note),
  }
}

/** A job; values that may be secrets are left out. */
export function jobView({ job, source }: StoredJob) {
  const limits = [
    'timeoutMs',
    'concurrency',
    'concurrencyPerKey',
    'maxCrashes',
    'deadLetter',
    'limit',
    'limitPerKey',
    'retention',
    'sla',
  ] as const
  return {
    name: job.name,
    handler: handlerView(job.handler),
    ...pick(job, ['queue', 'priority', 'retry', ...limits]),
    source,
    active: job.ended !== true,
  }
}

function handlerView(handler: Job['handler']) {
  switch (handler.kind) {
    case 'module': {
      const { kind, module, export: name, isolate } = handler
      return { kind, module, export: name, isolate: isolate?.kind, memoryMb: isolate?.memoryMb }
    }
    case 'shell':
      return { ...pick(handler, ['kind', 'argv', 'cwd']), env: Object.keys(handler.env ?? {}) }
    case 'http':
      return {
        ...pick(handler, ['kind', 'url', 'method', 'body']),
        headers: Object.keys(handler.headers ?? {}),
      }
    case 'function':
      return { kind: handler.kind }
    case 'pipeline':
      return { ...pick(handler, ['kind', 'path']), env: handler.env && Object.keys(handler.env) }
  }
}

/** A hold. */
export function holdView({ actor, ...hold }: Hold) {
  return { ...pick(hold, ['target', 'fromAt', 'untilAt']), by: actor, ...pick(hold, ['note', 'catchUp']) }
}
