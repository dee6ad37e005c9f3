import { exclusionAt } from '../../kernel/calendar/calendar.js'
import type { LedgerReason } from '../../kernel/ledger/ledger.js'
import { timezoneOf } from '../../kernel/trigger/schedule.js'
import { scheduleOf, type ScheduleSpec } from '../../kernel/trigger/schedule.js'
import { clockChangeNotes, explainOccurrence, type ClockChangeNote } from '../../time/cron/explain.js'
import { cronSchedule, type CronSchedule } from '../../time/cron/schedule.js'
import type { Instant } from '../../time/instant.js'
import { formatLocal } from '../../time/local-time.js'
import { zoneOf } from '../../time/zone.js'
import type { PreviewedOccurrence } from './preview.js'

/** The next due instants of a trigger, and those between them that its calendars and blackouts exclude. */
export interface TriggerPreview {
  readonly timezone: string
  readonly occurrences: readonly PreviewedOccurrence[]
  readonly excluded: readonly ExcludedInstants[]
  readonly changes: readonly ClockChangeNote[]
}

/** Due instants that will not run, for one reason. */
export interface ExcludedInstants {
  readonly firstAt: Instant
  readonly lastAt: Instant
  /** In the zone, with its offset. */
  readonly firstLocal: string
  readonly count: number
  readonly reason: LedgerReason
  /** The calendar, or the note of the blackout. */
  readonly detail: string
}

/** How many due instants are examined: a trigger may be excluded for years. */
const mostLookedAt = 10_000

/** Computes when a trigger is due next; undefined if its due instants cannot be computed. */
export function previewTrigger(
  spec: ScheduleSpec,
  { from, count }: { readonly from: Instant; readonly count: number },
): TriggerPreview {
  const timezone = spec.calendar?.timezone ?? timezoneOf(spec)
  const zone = zoneOf(timezone)
  const cron = cronOf(spec)
  const schedule = scheduleOf(spec)
  const occurrences: PreviewedOccurrence[] = []
  const excluded: ExcludedInstants[] = []
  let isOpen = false
  let at = schedule.next(from)
  for (let looked = 0; at !== undefined && occurrences.length < count && looked < mostLookedAt; looked++) {
    const by = spec.calendar === undefined ? undefined : exclusionAt(spec.calendar, at).by
    const last = excluded.at(-1)
    if (by === undefined) {
      const change = cron === undefined ? undefined : explainOccurrence(cron, at)
      occurrences.push({ at, local: formatLocal(at, zone), change })
    } else if (isOpen && last?.reason === by.reason && last.detail === by.detail)
      excluded[excluded.length - 1] = { ...last, lastAt: at, count: last.count + 1 }
    else {
      const firstLocal = formatLocal(at, zone)
      const { reason, detail } = by
      excluded.push({ firstAt: at, lastAt: at, firstLocal, count: 1, reason, detail })
    }
    isOpen = by !== undefined
    at = schedule.next(at)
  }
  const until = occurrences.at(-1)?.at ?? from
  const changes = cron === undefined ? [] : clockChangeNotes(cron, { after: from, until })
  return { timezone, occurrences, excluded, changes }
}

function cronOf(spec: ScheduleSpec): CronSchedule | undefined {
  if (spec.kind !== 'cron') return undefined
  return cronSchedule(spec.expression, { timezone: spec.timezone, dst: spec.dst })
}
