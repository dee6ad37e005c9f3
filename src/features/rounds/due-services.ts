import { keepingName } from '../../kernel/run/end-effect.js'
import { runDeadlines } from '../../kernel/sla/deadline.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import type { Job } from '../../kernel/job/job.js'
import { slotsFor } from '../../kernel/identity/occurrence.js'
import { serviceEffect } from './end-effect.js'
import type { RoundService, SkippedService } from '../../kernel/trigger/round-spec.js'
import { serviceRunId, type ServiceTiming } from './round.js'
import type { NewRun } from '../../kernel/run/run.js'
import { gridOf } from '../../kernel/trigger/schedule.js'
import type { DueTrigger, Trigger } from '../../kernel/trigger/trigger.js'

/**
 * The timing of a service under the list that names it. An interval that was set by hand applies until the list gives a
 * different one. A list without an own interval for the service does not count, so rounds with different intervals can
 * share the service.
 */
export function listedTiming(
  trigger: Trigger,
  { everyMs }: RoundService,
  known: ServiceTiming | undefined,
): ServiceTiming {
  if (known === undefined)
    return { lastRunAt: null, everyMs, listedMs: everyMs, triedAt: null, inFlight: null }
  const listedMs = known.isSet === true && !hasOwnInterval(trigger, everyMs) ? 0 : everyMs
  if (known.listedMs === listedMs) return known
  if (listedMs === 0 || known.listedMs === null) return { ...known, listedMs }
  const { isSet: _, ...rest } = known
  return { ...rest, everyMs, listedMs }
}

/** Whether a list gives a service its own interval. An interval equal to that of the round may be the default. */
export function hasOwnInterval({ schedule }: Trigger, everyMs: number): boolean {
  return schedule.kind !== 'interval' || schedule.everyMs !== everyMs
}

/** The instant from which intervals are measured: for a check between two instants of the grid, the earlier one. */
export function onGrid({ schedule }: Trigger, at: Instant): Instant {
  return schedule.kind === 'interval' ? (gridOf(schedule).previous(at + 1) ?? at) : at
}

/** When a service is due again; undefined if it never ran. */
export function dueAgainAt({ lastRunAt, everyMs }: ServiceTiming): Instant | undefined {
  return lastRunAt === null ? undefined : lastRunAt + everyMs
}

/** Why a check skips a service; undefined if it is due. */
export function whyNotDue(
  service: string,
  timing: ServiceTiming,
  checkedAt: Instant,
): SkippedService | undefined {
  if (timing.inFlight !== null) return { service, reason: 'in_flight', round: timing.inFlight.round }
  const dueAt = dueAgainAt(timing)
  if (dueAt !== undefined && checkedAt < dueAt) return { service, reason: 'not_due', dueAt }
  // A failed service is due again at the next check, not a second time for this one.
  if (timing.triedAt !== null && checkedAt <= timing.triedAt) return { service, reason: 'tried' }
  return undefined
}

/** The run of a service. */
export function newServiceRun(
  due: DueTrigger,
  job: Job,
  at: { readonly checkedAt: Instant; readonly now: Instant },
): NewRun {
  const { trigger } = due
  return {
    id: serviceRunId(trigger.name, job.name, at.checkedAt),
    job: job.name,
    origin: 'round',
    trigger: trigger.name,
    version: due.version,
    dueAt: at.checkedAt,
    runAt: at.now,
    priority: trigger.priority ?? job.priority,
    // A manual retry waits for a run that a round has started meanwhile.
    slots: [...slotsFor({ job, trigger }), { key: `service:${job.name}`, limit: 1 }],
    endEffect: keepingName(serviceEffect.name, {
      isJob: job.sla?.notOlderThanMs !== undefined,
      isTrigger: trigger.sla?.notOlderThanMs !== undefined,
    }),
    ...runDeadlines({ job }, at.checkedAt),
  }
}

/** The result of a check, as the ledger stores it: `due s1, s2; skipped daily (not_due, due 2026-01-06T09:00:00Z)`. */
export function formatCheck(due: readonly string[], skipped: readonly SkippedService[]): string {
  const parts = [
    ...(due.length === 0 ? [] : [`due ${due.join(', ')}`]),
    ...(skipped.length === 0 ? [] : [`skipped ${skipped.map(formatSkip).join(', ')}`]),
  ]
  return parts.join('; ')
}

function formatSkip({ service, reason, dueAt, round }: SkippedService): string {
  const due = dueAt === undefined ? '' : `, due ${formatInstant(dueAt)}`
  return `${service} (${reason}${due}${round === undefined ? '' : `, in ${round}`})`
}
