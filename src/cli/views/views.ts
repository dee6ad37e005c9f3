/** What `--json` prints: lists of fields, in camelCase; the output makes texts of instants and null of what is absent. */
import type { Explanation, Why } from '../../engine/explain/why.js'
import type { Hold } from '../../kernel/hold/hold.js'
import type { Job } from '../../kernel/job/job.js'
import type { Attempt, Run } from '../../kernel/run/run.js'
import type { ScheduleSpec } from '../../kernel/trigger/schedule.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { StoredJob } from '../../store/port.js'
import { pick } from '../framework/print/json.js'
import { errorView, runView } from '../framework/print/run-view.js'
import { rangeFields } from '../framework/print/trigger-text.js'

/** One attempt of a run. */
export function attemptView(attempt: Attempt) {
  const fields = ['attempt', 'end', 'worker', 'claimedAt', 'startedAt', 'endedAt'] as const
  return { ...pick(attempt, fields), error: errorView(attempt.error) }
}

/** A trigger with how far it has been planned. */
export function triggerView(stored: StoredTrigger, state: string) {
  const { trigger } = stored
  return {
    ...pick(trigger, ['name', 'job']),
    state,
    schedule: scheduleView(trigger.schedule),
    ...pick(stored, ['nextAt', 'cursorAt', 'definedAt', 'active']),
    enabled: trigger.enabled,
    ...pick(stored, ['source', 'version']),
    catchUp: { ...trigger.catchUp, maxAgeMs: trigger.catchUp.maxAgeMs },
    ...pick(trigger, ['overlap', 'jitterMs', 'spreadMs', 'priority', 'partition', 'payload']),
    services: trigger.round?.services,
  }
}

/** A schedule with its defaults; the other settings of a sensor are the feature's own. */
function scheduleView(schedule: ScheduleSpec) {
  const bounds = pick(schedule, ['startAt', 'endAt'])
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

/** A job; values that may be secrets are left out. */
export function jobView({ job, source }: StoredJob) {
  const limits = ['timeoutMs', 'concurrency', 'concurrencyPerKey', 'maxCrashes'] as const
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

/** Something that is or was held back. */
export function holdView({ actor, ...hold }: Hold) {
  return { ...pick(hold, ['target', 'fromAt', 'untilAt']), by: actor, ...pick(hold, ['note', 'catchUp']) }
}

/** Why a run is pending, as `--json` prints it. */
export type PendingViews = (run: Run) => readonly unknown[]

/** What happened at the due instants of a stretch of time. */
export function whyView(why: Why, pending: PendingViews) {
  const { explanations, beside } = why
  return {
    ...pick(why, ['trigger', 'fromAt', 'untilAt']),
    explanations: explanations.map((one) => explanationView(one, pending)),
    beside: beside.map((run) => ({ ...runView(run), pending: pending(run) })),
    ...pick(why, ['more', 'earlier']),
  }
}

function explanationView(one: Explanation, pending: PendingViews) {
  switch (one.kind) {
    case 'run':
      return { ...one, run: runView(one.run), pending: pending(one.run) }
    case 'range': {
      const { kind, range, blocker, lastSignAt } = one
      const { recordedAt } = range
      return { kind, ...pick(range, rangeFields), recordedAt, blockerState: blocker?.state, lastSignAt }
    }
    case 'held':
      return { kind: one.kind, firstAt: one.at, lastAt: one.lastAt, hold: holdView(one.hold) }
    case 'waiting':
      return { ...one, hold: one.hold && holdView(one.hold), lastSignAt: one.lastSignAt }
    case 'not-due':
    case 'not-defined':
    case 'future':
    case 'unexplained':
      return one
  }
}
