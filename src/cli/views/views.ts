/** What `--json` prints: camelCase, instants as ISO texts, and null where there is nothing, so that keys never vanish. */
import type { Attempt } from '../../kernel/run/run.js'
import type { Coverage } from '../../kernel/ledger/coverage.js'
import type { Explanation } from '../../engine/explain/why.js'
import type { Hold } from '../../kernel/hold/hold.js'
import type { Job } from '../../kernel/job/job.js'
import type { LedgerRange } from '../../kernel/ledger/ledger.js'
import type { PendingReason } from '../../kernel/run/pending.js'
import type { QueueStatus, StoredJob, StoredLogLine } from '../../store/port.js'
import type { Run } from '../../kernel/run/run.js'
import type { ScheduleSpec } from '../../kernel/trigger/schedule.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { Why } from '../../engine/explain/why.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import type { Pending } from './pending-of.js'

/** A run. */
export function runView(run: Run) {
  return {
    id: run.id,
    job: run.job,
    trigger: run.trigger ?? null,
    origin: run.origin,
    state: run.state,
    reason: run.reason ?? null,
    dueAt: iso(run.dueAt),
    runAt: iso(run.runAt),
    createdAt: iso(run.createdAt),
    claimedAt: iso(run.claimedAt),
    startedAt: iso(run.startedAt),
    finishedAt: iso(run.finishedAt),
    attempt: run.attempt,
    failures: run.failures,
    crashes: run.crashes,
    priority: run.priority,
    partition: run.partition ?? null,
    uniqueKey: run.uniqueKey ?? null,
    labels: run.labels ?? null,
    worker: run.worker ?? null,
    waitsFor: run.waitsFor ?? null,
    cancelRequested: run.cancelRequested,
    payload: run.payload ?? null,
    result: run.result ?? null,
    error: errorView(run.error),
  }
}

/** One try of a run. */
export function attemptView(attempt: Attempt) {
  return {
    attempt: attempt.attempt,
    end: attempt.end ?? null,
    worker: attempt.worker ?? null,
    claimedAt: iso(attempt.claimedAt),
    startedAt: iso(attempt.startedAt),
    endedAt: iso(attempt.endedAt),
    error: errorView(attempt.error),
  }
}

/** A line that a run wrote. */
export function logView({ seq, attempt, at, level, text }: StoredLogLine) {
  return { seq, attempt, at: iso(at), level, text }
}

/** A trigger with how far it has been planned. */
export function triggerView(stored: StoredTrigger, state: string) {
  const { trigger, source, version, definedAt, cursorAt, nextAt, active } = stored
  const { name, job, schedule, payload, partition, catchUp, overlap, jitterMs, spreadMs, priority } = trigger
  return {
    name,
    job,
    state,
    schedule: scheduleView(schedule),
    nextAt: iso(nextAt),
    cursorAt: iso(cursorAt),
    definedAt: iso(definedAt),
    active,
    enabled: trigger.enabled,
    source,
    version,
    catchUp: { ...catchUp, maxAgeMs: catchUp.maxAgeMs ?? null },
    overlap,
    jitterMs,
    spreadMs,
    priority: priority ?? null,
    partition: partition ?? null,
    payload: payload ?? null,
    services: trigger.round?.services ?? null,
  }
}

/** A job; values that may be secrets are left out. */
export function jobView({ job, source }: StoredJob) {
  const { name, queue, priority, retry, timeoutMs, concurrency, concurrencyPerKey, maxCrashes } = job
  return {
    name,
    handler: handlerView(job.handler),
    queue,
    priority,
    retry,
    timeoutMs: timeoutMs ?? null,
    concurrency: concurrency ?? null,
    concurrencyPerKey,
    maxCrashes,
    source,
    active: job.ended !== true,
  }
}

/** A queue with what is in it. */
export function queueView({ name, concurrency, paused, ready, running }: QueueStatus) {
  return { name, concurrency: concurrency ?? null, paused, ready, running }
}

/** Something that is or was held back. */
export function holdView({ target, fromAt, untilAt, actor, note, catchUp }: Hold) {
  return { target, fromAt: iso(fromAt), untilAt: iso(untilAt), by: actor, note, catchUp }
}

/** Why a run is pending. */
export function pendingView(reason: PendingReason) {
  if (reason.kind === 'due-later') return { ...reason, at: iso(reason.at) }
  if (reason.kind === 'retry') return { ...reason, at: iso(reason.at), error: errorView(reason.error) }
  if (reason.kind === 'limit') return { ...reason, key: reason.key ?? null }
  return 'hold' in reason ? { ...reason, hold: holdView(reason.hold) } : reason
}

/** A range of due instants that did not run. */
export function rangeView(range: LedgerRange) {
  return {
    firstAt: iso(range.firstAt),
    lastAt: iso(range.lastAt),
    reason: range.reason,
    rule: range.rule,
    version: range.version,
    blocker: range.blocker ?? null,
    detail: range.detail ?? null,
  }
}

/** What became of the due instants of a stretch of time. */
export function whyView(
  { trigger, fromAt, untilAt, explanations, beside, more, earlier }: Why,
  pending: Pending['reasons'],
) {
  return {
    trigger,
    fromAt: iso(fromAt),
    untilAt: iso(untilAt),
    explanations: explanations.map((one) => explanationView(one, pending)),
    beside: beside.map((run) => ({ ...runView(run), pending: pending(run).map(pendingView) })),
    more,
    earlier,
  }
}

/** What a trigger's ledger accounts for. */
export function coverageView(coverage: Coverage) {
  return {
    ...coverage,
    fromAt: iso(coverage.fromAt),
    untilAt: iso(coverage.untilAt),
    unexplained: coverage.unexplained.map(iso),
    unexpected: coverage.unexpected.map(iso),
  }
}

function explanationView(explanation: Explanation, pending: Pending['reasons']) {
  switch (explanation.kind) {
    case 'run':
      return {
        kind: explanation.kind,
        at: iso(explanation.at),
        run: runView(explanation.run),
        pending: pending(explanation.run).map(pendingView),
      }
    case 'range': {
      const { kind, range, blocker, lastSignAt } = explanation
      return {
        kind,
        ...rangeView(range),
        recordedAt: iso(range.recordedAt),
        blockerState: blocker?.state ?? null,
        lastSignAt: iso(lastSignAt),
      }
    }
    case 'held': {
      const { kind, at, lastAt, hold } = explanation
      return { kind, firstAt: iso(at), lastAt: iso(lastAt), hold: holdView(hold) }
    }
    case 'waiting': {
      const { kind, at, hold, lastSignAt } = explanation
      return {
        kind,
        at: iso(at),
        hold: hold === undefined ? null : holdView(hold),
        lastSignAt: iso(lastSignAt),
      }
    }
    case 'not-due': {
      const { kind, at, before, after } = explanation
      return { kind, at: iso(at), beforeAt: iso(before), afterAt: iso(after) }
    }
    case 'not-defined': {
      const { kind, at, definedAt, endedAt } = explanation
      return { kind, at: iso(at), definedAt: iso(definedAt), endedAt: iso(endedAt) }
    }
    case 'future':
    case 'unexplained':
      return { kind: explanation.kind, at: iso(explanation.at) }
  }
}

function scheduleView(schedule: ScheduleSpec) {
  const bounds = { startAt: iso(schedule.startAt), endAt: iso(schedule.endAt) }
  switch (schedule.kind) {
    case 'cron': {
      const { kind, expression, timezone, dst = 'vixie' } = schedule
      return { kind, expression, timezone, dst, ...bounds }
    }
    case 'interval': {
      const { kind, everyMs, anchorAt, immediate = false } = schedule
      return { kind, everyMs, anchorAt: iso(anchorAt), immediate, ...bounds }
    }
    case 'after-finish':
      return {
        kind: schedule.kind,
        everyMs: schedule.everyMs,
        immediate: schedule.immediate ?? false,
        ...bounds,
      }
    case 'once':
      return { kind: schedule.kind, at: iso(schedule.at), ...bounds }
    case 'sensor': {
      const { kind, type, everyMs, timeoutMs, timezone } = schedule
      return { kind, type, everyMs, timeoutMs, timezone, ...bounds }
    }
    case 'upstream':
      return { kind: schedule.kind, assets: schedule.assets, ...bounds }
  }
}

function handlerView(handler: Job['handler']) {
  switch (handler.kind) {
    case 'function':
      return { kind: handler.kind }
    case 'module': {
      const { kind, module, export: name, isolate } = handler
      return {
        kind,
        module,
        export: name,
        isolate: isolate?.kind ?? null,
        memoryMb: isolate?.memoryMb ?? null,
      }
    }
    case 'shell':
      return {
        kind: handler.kind,
        argv: handler.argv,
        env: Object.keys(handler.env ?? {}),
        cwd: handler.cwd ?? null,
      }
    case 'http':
      return {
        kind: handler.kind,
        url: handler.url,
        method: handler.method ?? null,
        headers: Object.keys(handler.headers ?? {}),
        body: handler.body ?? null,
      }
    case 'pipeline':
      return { kind: handler.kind, path: handler.path ?? null }
  }
}

function errorView(error: Run['error']) {
  if (error === undefined) return null
  const { code, message, stack = null, details = null } = error
  return { code, message, stack, details }
}

function iso(at: Instant | undefined): string | null {
  return at === undefined ? null : formatInstant(at)
}
