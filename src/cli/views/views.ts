/** What `--json` prints: lists of fields, in camelCase; the output makes texts of instants and null of what is absent. */
import type { Explanation, Why } from '../../engine/explain/why.js'
import type { Hold } from '../../kernel/hold/hold.js'
import type { Job } from '../../kernel/job/job.js'
import type { PendingReason } from '../../kernel/run/pending.js'
import type { Attempt, Run } from '../../kernel/run/run.js'
import type { ScheduleSpec } from '../../kernel/trigger/schedule.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { StoredJob } from '../../store/port.js'
import { pick } from '../framework/print/json.js'
import { errorView, runView } from '../framework/print/run-view.js'
import { rangeFields } from '../framework/print/trigger-text.js'
import type { Pending } from './pending-of.js'

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

function scheduleView(schedule: ScheduleSpec) {
  const bounds = pick(schedule, ['startAt', 'endAt'])
  switch (schedule.kind) {
    case 'cron': {
      const { dst = 'vixie' } = schedule
      return { ...pick(schedule, ['kind', 'expression', 'timezone']), dst, ...bounds }
    }
    case 'interval': {
      const { immediate = false } = schedule
      return { ...pick(schedule, ['kind', 'everyMs', 'anchorAt']), immediate, ...bounds }
    }
    case 'after-finish': {
      const { immediate = false } = schedule
      return { ...pick(schedule, ['kind', 'everyMs']), immediate, ...bounds }
    }
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
    case 'function':
      return pick(handler, ['kind'])
    case 'module': {
      const { isolate } = handler
      const how = { isolate: isolate?.kind, memoryMb: isolate?.memoryMb }
      return { ...pick(handler, ['kind', 'module', 'export']), ...how }
    }
    case 'shell': {
      const env = Object.keys(handler.env ?? {})
      return { ...pick(handler, ['kind', 'argv']), env, cwd: handler.cwd }
    }
    case 'http': {
      const headers = Object.keys(handler.headers ?? {})
      return { ...pick(handler, ['kind', 'url', 'method']), headers, body: handler.body }
    }
    case 'pipeline':
      return { ...pick(handler, ['kind', 'path']), env: handler.env && Object.keys(handler.env) }
  }
}

/** Something that is or was held back. */
export function holdView({ actor, ...hold }: Hold) {
  return { ...pick(hold, ['target', 'fromAt', 'untilAt']), by: actor, ...pick(hold, ['note', 'catchUp']) }
}

/** Why a run is pending. */
export function pendingView(reason: PendingReason) {
  if (reason.kind === 'retry') return { ...reason, error: errorView(reason.error) }
  if (reason.kind === 'limit') return { ...reason, key: reason.key }
  return 'hold' in reason ? { ...reason, hold: holdView(reason.hold) } : reason
}

/** What happened at the due instants of a stretch of time. */
export function whyView(why: Why, pending: Pending['reasons']) {
  const { explanations, beside } = why
  const reasons = (run: Run) => pending(run).map(pendingView)
  return {
    ...pick(why, ['trigger', 'fromAt', 'untilAt']),
    explanations: explanations.map((one) =>
      one.kind === 'run'
        ? { ...pick(one, ['kind', 'at']), run: runView(one.run), pending: reasons(one.run) }
        : explanationView(one),
    ),
    beside: beside.map((run) => ({ ...runView(run), pending: reasons(run) })),
    ...pick(why, ['more', 'earlier']),
  }
}

function explanationView(explanation: Exclude<Explanation, { kind: 'run' }>) {
  switch (explanation.kind) {
    case 'range': {
      const { kind, range, blocker, lastSignAt } = explanation
      const { recordedAt } = range
      return { kind, ...pick(range, rangeFields), recordedAt, blockerState: blocker?.state, lastSignAt }
    }
    case 'held': {
      const { kind, at, lastAt, hold } = explanation
      return { kind, firstAt: at, lastAt, hold: holdView(hold) }
    }
    case 'waiting': {
      const { kind, at, hold, lastSignAt } = explanation
      return { kind, at, hold: hold === undefined ? undefined : holdView(hold), lastSignAt }
    }
    case 'not-due':
    case 'not-defined':
    case 'future':
    case 'unexplained':
      return explanation
  }
}
