/**
 * Deadlines and breaches. A deadline is a state entry whose name sorts by time: whoever looks for those that are over
 * reads the first ones, and never the history.
 */
import type { Json } from '../definition/json.js'
import type { RunId } from '../identity/identity.js'
import type { Job } from '../job/job.js'
import type { NewRun, RunDeadline } from '../run/run.js'
import type { StateChange, StateEntry, StateKey } from '../state/state-entry.js'
import { timezoneOf, type ScheduleSpec } from '../trigger/schedule.js'
import { formatDuration } from '../../time/duration.js'
import type { Instant } from '../../time/instant.js'
import { nextTimeOfDay, type Sla, type SlaRule } from './sla.js'

/** What has promised something. */
export type SlaSubject = 'trigger' | 'round' | 'job' | 'asset'

/** A promise that has to be kept by an instant. */
export interface Deadline {
  readonly rule: SlaRule
  /** Whose promise it is. */
  readonly of: SlaSubject
  readonly name: string
  readonly trigger: string | null
  readonly job: string | null
  /** The run that it is about; of a cycle its first. */
  readonly run: RunId | null
  /** The partition that it is about. */
  readonly partition: string | null
  /** From when it counts: a due instant, the last success, or the end of a partition. */
  readonly dueAt: Instant
  readonly deadlineAt: Instant
  /** How long it has from `dueAt` on, where that was promised. */
  readonly withinMs: number | null
  /** Whether there was no success yet, so that `dueAt` is when it was promised. */
  readonly isFirst?: boolean | undefined
  /** When it is looked at, where that is later: what keeps it is not stored before. */
  readonly lookAt?: Instant | undefined
}

/** A promise that was broken: the fact that stays. */
export interface Breach extends Deadline {
  /** When it was found. */
  readonly at: Instant
}

/** The deadlines of one run, which whoever records the run writes with it. */
export function runDeadlines(
  { job, trigger }: { readonly job: Pick<Job, 'name' | 'asset' | 'sla'>; readonly trigger?: Promising },
  dueAt: Instant,
): { readonly deadlines?: readonly RunDeadline[] } {
  if (job.sla === undefined && trigger?.sla === undefined) return {}
  const deadlines = [
    ...deadlinesOf({ of: jobSubject(job), name: job.name }, { sla: job.sla, timezone: 'UTC' }, dueAt),
    ...(trigger === undefined
      ? []
      : deadlinesOf(
          { of: 'trigger', name: trigger.name },
          { sla: trigger.sla, timezone: timezoneOf(trigger.schedule) },
          dueAt,
        )),
  ]
  return deadlines.length === 0 ? {} : { deadlines }
}

interface Promising {
  readonly name: string
  readonly schedule: ScheduleSpec
  readonly sla?: Sla | undefined
}

/** What a job is called as the subject of a promise. */
export function jobSubject({ asset }: Pick<Job, 'asset'>): 'job' | 'asset' {
  return asset === undefined ? 'job' : 'asset'
}

/** The deadlines of something that is due at an instant. */
export function deadlinesOf(
  subject: Pick<Deadline, 'of' | 'name'>,
  { sla, timezone }: { readonly sla: Sla | undefined; readonly timezone: string },
  dueAt: Instant,
): readonly RunDeadline[] {
  if (sla === undefined) return []
  const { startedWithinMs, finishedWithinMs, finishedBy } = sla
  const byAt = finishedBy && nextTimeOfDay(finishedBy, sla.timezone ?? timezone, dueAt)
  return [
    ...(startedWithinMs === undefined ? [] : [within(subject, 'started-within', dueAt, startedWithinMs)]),
    ...(finishedWithinMs === undefined ? [] : [within(subject, 'finished-within', dueAt, finishedWithinMs)]),
    ...(typeof byAt === 'number'
      ? [{ ...subject, rule: 'finished-by' as const, deadlineAt: byAt, withinMs: null }]
      : []),
  ]
}

function within(
  subject: Pick<Deadline, 'of' | 'name'>,
  rule: SlaRule,
  dueAt: Instant,
  withinMs: number,
): RunDeadline {
  return { ...subject, rule, deadlineAt: dueAt + withinMs, withinMs }
}

/** The entries that are written with a new run. */
export function deadlineChanges(run: NewRun): readonly StateChange[] {
  return (run.deadlines ?? []).map((one) => deadlineChange(runDeadline(run, one)))
}

/** A deadline of a run as it is stored. */
export function runDeadline({ id, job, trigger, partition, dueAt }: NewRun, deadline: RunDeadline): Deadline {
  return { ...deadline, trigger: trigger ?? null, job, run: id, partition: partition ?? null, dueAt }
}

/** The entry of a deadline. */
export function deadlineChange(deadline: Deadline): StateChange {
  return { ...deadlineKey(deadline), value: deadline as unknown as Json }
}

/** The key of a deadline. One that has no run is the only one of its rule at that time. */
export function deadlineKey(deadline: Deadline): StateKey {
  const { rule, of, name, run } = deadline
  const whose = of === 'trigger' || of === 'round' ? name : jobKey(name)
  return { kind: 'deadline', name: sortable(lookedAt(deadline)), item: `${run ?? whose} ${rule} ${of}` }
}

/** After which instant a deadline is looked at. */
export function lookedAt({ lookAt, deadlineAt }: Deadline): Instant {
  return lookAt ?? deadlineAt
}

/** Reads the entry of a deadline. */
export function deadlineOf({ value }: StateEntry): Deadline {
  return value as unknown as Deadline
}

/** The name under which the entries of a trigger, round, job or asset stand. A job may be called as a trigger is. */
export function subjectKey({ of, name }: Pick<Deadline, 'of' | 'name'>): string {
  return of === 'trigger' || of === 'round' ? name : jobKey(name)
}

/** The name under which the entries of a job stand; no name has a space in it. */
export function jobKey(job: string): string {
  return `job ${job}`
}

/** When a breach belongs into a history: with the due instant of its run, or when it came about. */
export function breachAt({ run, dueAt, deadlineAt }: Deadline): Instant {
  return run === null ? deadlineAt : dueAt
}

/** The key of a breach. Those of one subject sort by time. */
export function breachKey(breach: Deadline): StateKey {
  const item = `${sortable(breachAt(breach))} ${breach.rule} ${breach.run ?? ''}`
  return { kind: 'breach', name: subjectKey(breach), item }
}

/** The entry of a breach. */
export function breachChange(breach: Breach): StateChange {
  return { ...breachKey(breach), value: breach as unknown as Json }
}

/** Reads the entry of a breach. */
export function breachOf({ value }: StateEntry): Breach {
  return value as unknown as Breach
}

/** A text that sorts as the instant does. */
export function sortable(at: Instant): string {
  return String(Math.max(0, at)).padStart(16, '0')
}

/** One sentence about a breach. */
export function breachText(
  { rule, of, dueAt, deadlineAt, withinMs, partition, isFirst }: Omit<Breach, 'at' | 'name'>,
  time: (at: Instant) => string,
): string {
  switch (rule) {
    case 'started-within':
    case 'finished-within':
    case 'finished-by': {
      const what = of === 'round' && rule !== 'started-within' ? 'the check' : 'the run'
      const missing = rule === 'started-within' ? 'had not begun' : 'was not recorded as ended'
      return `${what} that was due at ${time(dueAt)} ${missing} by ${time(deadlineAt)}, as its SLA promises`
    }
    case 'not-older-than': {
      const since =
        isFirst === true
          ? `nothing has succeeded since ${time(dueAt)}, when this was promised`
          : `the last success was at ${time(dueAt)}`
      return `${since}; by ${time(deadlineAt)} there should have been one, as the SLA allows ${formatDuration(withinMs ?? 0)}`
    }
    case 'made-within':
    case 'made-by':
      return `the partition ${partition ?? ''}, which ended at ${time(dueAt)}, was not made by ${time(deadlineAt)}, as the SLA promises`
  }
}
