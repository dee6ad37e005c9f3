/**
 * Deadlines and breaches. A deadline is a state entry whose name sorts by time: finding the passed ones reads only the
 * first entries, never the history.
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

/** What an SLA can belong to. */
export type SlaSubject = 'trigger' | 'round' | 'job' | 'asset'

/** The instant by which a promise must be kept. */
export interface Deadline {
  readonly rule: SlaRule
  /** Whose promise it is. */
  readonly of: SlaSubject
  readonly name: string
  readonly trigger: string | null
  readonly job: string | null
  /** The run that it is about; for a cycle, its first run. */
  readonly run: RunId | null
  /** The partition that it is about. */
  readonly partition: string | null
  /** From when it counts: a due instant, the last success, or the end of a partition. */
  readonly dueAt: Instant
  readonly deadlineAt: Instant
  /** The promised time from `dueAt` on, if the promise is a duration. */
  readonly withinMs: number | null
  /** Whether there was no success yet; then `dueAt` is the time of the definition. */
  readonly isFirst?: boolean | undefined
  /** When it is judged, if that is later than the deadline: the fact that decides is stored only then. */
  readonly lookAt?: Instant | undefined
}

/** A broken promise; kept as a record. */
export interface Breach extends Deadline {
  /** When it was found. */
  readonly at: Instant
}

/** The deadlines of one run, to be written in the transaction that records it. */
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

/** Whether a job is a job or an asset as the subject of an SLA. */
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

/** The stored form of a run's deadline. */
export function runDeadline({ id, job, trigger, partition, dueAt }: NewRun, deadline: RunDeadline): Deadline {
  return { ...deadline, trigger: trigger ?? null, job, run: id, partition: partition ?? null, dueAt }
}

/** The entry of a deadline. */
export function deadlineChange(deadline: Deadline): StateChange {
  return { ...deadlineKey(deadline), value: deadline as unknown as Json }
}

/** The key of a deadline. Without a run, there is only one per rule and time. */
export function deadlineKey(deadline: Deadline): StateKey {
  const { rule, of, name, run } = deadline
  const whose = of === 'trigger' || of === 'round' ? name : jobKey(name)
  return { kind: 'deadline', name: sortable(lookedAt(deadline)), item: `${run ?? whose} ${rule} ${of}` }
}

/** The instant after which a deadline is judged. */
export function lookedAt({ lookAt, deadlineAt }: Deadline): Instant {
  return lookAt ?? deadlineAt
}

/** Reads the entry of a deadline. */
export function deadlineOf({ value }: StateEntry): Deadline {
  return value as unknown as Deadline
}

/** The name of the entries of a trigger, round, job or asset. A job and a trigger may have the same name. */
export function subjectKey({ of, name }: Pick<Deadline, 'of' | 'name'>): string {
  return of === 'trigger' || of === 'round' ? name : jobKey(name)
}

/** The name of the entries of a job; no name contains a space. */
export function jobKey(job: string): string {
  return `job ${job}`
}

/** The time of a breach in a history: the due instant of its run, or else its deadline. */
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

/** A text that sorts like the instant. */
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
