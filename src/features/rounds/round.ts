import type { Instant } from '../../time/instant.js'
import { runIdOf, type RunId } from '../../kernel/identity/identity.js'
import type { Json } from '../../kernel/definition/json.js'
import {
  deadlineChange,
  deadlineKey,
  deadlinesOf,
  runDeadline,
  type Deadline,
} from '../../kernel/sla/deadline.js'
import { afterSuccess, freshnessKey, type Freshness } from '../../kernel/sla/freshness.js'
import type { NewRun, RunDeadline } from '../../kernel/run/run.js'
import type { Trigger } from '../../kernel/trigger/trigger.js'
import type { StateChange } from '../../kernel/state/state-entry.js'
import type { SkippedService } from '../../kernel/trigger/round-spec.js'

/** When a service last ran, its interval, and its unfinished run: one for all rounds, kept forever. */
export interface ServiceTiming {
  /** The due instant of the check for which it last succeeded. */
  readonly lastRunAt: Instant | null
  readonly everyMs: number
  /** The interval in the lists of its rounds when `everyMs` was last taken from them; null if no list has named it yet, 0 if it was set by hand and the lists give none. */
  readonly listedMs: number | null
  /** Whether `everyMs` was set by hand. */
  readonly isSet?: true
  /** The newest check for which it was started, whatever the result was. */
  readonly triedAt: Instant | null
  readonly inFlight: { readonly run: RunId; readonly round: string } | null
}

/** A check whose services are being performed. */
export interface Cycle {
  /** The due instant of the check, on the round's grid. */
  readonly checkedAt: Instant
  /** The due instant itself, if the check was between two instants of the grid. */
  readonly dueAt?: Instant | undefined
  /** When its first service was started. */
  readonly beganAt: Instant
  /** The services that have not started. */
  readonly queue: readonly string[]
  readonly current: { readonly service: string; readonly run: RunId } | null
  readonly results: readonly ServiceResult[]
  readonly skipped: readonly SkippedService[]
  /** Whether it was resumed: by a process that started after it began, or after one of its runs was lost with its worker. */
  readonly resumed: boolean
  /** By when it has to be over, if its round promises that. */
  readonly deadlines?: readonly Deadline[] | undefined
}

/** The result of the last finished cycle; kept until the next one is over. */
export type LastCheck = Pick<Cycle, 'checkedAt' | 'results' | 'skipped' | 'resumed'>

/** The result of a service. */
export interface ServiceResult {
  readonly service: string
  readonly status: 'ok' | 'error'
  readonly info: string
}

/** A run of a service that became final. */
export interface EndedService {
  readonly run: RunId
  readonly service: string
  /** The due instant of the check that found it. */
  readonly checkedAt: Instant
  readonly isDone: boolean
  readonly info: string
}

/** The timing after a run of its service: only a success moves it, to the instant of the check. */
export function timingAfter(timing: ServiceTiming, ended: EndedService): ServiceTiming {
  const { lastRunAt, inFlight } = timing
  return {
    ...timing,
    lastRunAt: ended.isDone ? Math.max(lastRunAt ?? ended.checkedAt, ended.checkedAt) : lastRunAt,
    inFlight: inFlight?.run === ended.run ? null : inFlight,
  }
}

/** The change that stores the result of a finished cycle. */
export function lastCheckChange(round: string, cycle: LastCheck): StateChange {
  const { checkedAt, results, skipped, resumed } = cycle
  const value = { checkedAt, results, skipped, resumed } as unknown as Json
  return { kind: 'check', name: round, item: '', value }
}

/** The cycle after its current service ended; undefined if the run is not the current one. */
export function cycleAfter(cycle: Cycle, { run, service, isDone, info }: EndedService): Cycle | undefined {
  if (cycle.current?.run !== run) return undefined
  const result: ServiceResult = { service, status: isDone ? 'ok' : 'error', info }
  return { ...cycle, current: null, results: [...cycle.results, result] }
}

/** The id of the run of a service for a check of a round. */
export function serviceRunId(round: string, service: string, checkedAt: Instant): RunId {
  return runIdOf({ at: checkedAt, parts: ['service', round, service, String(checkedAt)] })
}

/** Whether a run is one of a service for a check of a round: its id says so. */
export function isServiceRun(run: {
  readonly run: RunId
  readonly job: string
  readonly trigger: string | undefined
  readonly dueAt: Instant
}): boolean {
  return run.trigger !== undefined && run.run === serviceRunId(run.trigger, run.job, run.dueAt)
}

/** The deadlines of a check: that of its first run, and those of its cycle. */
export function checkDeadlines(
  { name, sla }: Pick<Trigger, 'name' | 'sla'>,
  run: NewRun,
  dueAt: Instant,
): { readonly ofRun: readonly RunDeadline[]; readonly ofCycle: readonly Deadline[] } {
  const all = deadlinesOf({ of: 'round', name }, { sla, timezone: 'UTC' }, dueAt)
  return {
    ofRun: all.filter(({ rule }) => rule === 'started-within'),
    ofCycle: all
      .filter(({ rule }) => rule !== 'started-within')
      .map((one) => ({ ...runDeadline(run, one), job: null, dueAt })),
  }
}

/** The entries of the deadlines of a cycle that begins. */
export function openDeadlines({ deadlines = [] }: Cycle): readonly StateChange[] {
  return deadlines.map(deadlineChange)
}

/** The changes that remove the deadlines that a cycle met. The SLA loop checks the others. */
export function keptDeadlines(cycle: Cycle | undefined, at: Instant): readonly StateChange[] {
  return (cycle?.deadlines ?? [])
    .filter(({ deadlineAt }) => at <= deadlineAt)
    .map((deadline) => ({ ...deadlineKey(deadline), value: undefined }))
}

/** Whether a finished check is a success: every due service succeeded. */
export function isSuccess({ results }: Pick<Cycle, 'results'>): boolean {
  return results.every(({ status }) => status === 'ok')
}

/** Records the success of a check that does not end with a run. */
export function successChanges(
  round: string,
  known: { readonly value: Freshness; readonly revision: number } | undefined,
  at: Instant,
): readonly StateChange[] {
  if (known === undefined) return []
  const value = afterSuccess(known.value, at) as unknown as Json
  return [{ ...freshnessKey(round), revision: known.revision, value }]
}
