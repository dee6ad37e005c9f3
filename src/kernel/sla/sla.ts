/** What a trigger, round, job or asset promises, as people write it and as definitions store it. */
import { cronSchedule } from '../../time/cron/schedule.js'
import { formatDuration } from '../../time/duration.js'
import type { Instant } from '../../time/instant.js'

/** The promises of a definition. */
export interface Sla {
  /** How soon after its due instant a run begins. */
  readonly startedWithinMs?: number | undefined
  /** How soon after its due instant a run ends. */
  readonly finishedWithinMs?: number | undefined
  /** The time of day, as `HH:MM`, by which a run ends: the first one after its due instant. */
  readonly finishedBy?: string | undefined
  /** How old the last success may be. */
  readonly notOlderThanMs?: number | undefined
  /** How soon after its end a partition of an asset is made. */
  readonly madeWithinMs?: number | undefined
  /** The time of day by which a partition of an asset is made: the first one after its end. */
  readonly madeBy?: string | undefined
  /** The zone of the times of day; absent: that of the cron expression. */
  readonly timezone?: string | undefined
}

/** An SLA as a person writes it: at least one promise. */
export interface SlaInput {
  /** How soon after its due instant a run begins, such as `5m`. */
  readonly startedWithin?: string | number | undefined
  /** How soon after its due instant a run ends, such as `1h`. */
  readonly finishedWithin?: string | number | undefined
  /** The time of day by which a run ends, such as `07:30`: the first one after its due instant. */
  readonly finishedBy?: string | undefined
  /** How old the last success may be, such as `25h`; before the first success it counts from the definition. */
  readonly notOlderThan?: string | number | undefined
  /** The IANA zone of `finishedBy` and `madeBy`; default: that of the definition, or `UTC`. */
  readonly timezone?: string | undefined
}

/** An SLA of an asset. */
export interface AssetSlaInput extends SlaInput {
  /** How soon after its end a partition is made, such as `3h`; only with partitions of time. */
  readonly madeWithin?: string | number | undefined
  /** The time of day by which a partition is made, such as `07:30`: the first one after its end; only with partitions of time. */
  readonly madeBy?: string | undefined
}

/** Which promise was broken. */
export const slaRules = [
  'started-within',
  'finished-within',
  'finished-by',
  'not-older-than',
  'made-within',
  'made-by',
] as const

/** One of the promises. */
export type SlaRule = (typeof slaRules)[number]

/** The promises in one line, as `rota show` prints them. */
export function slaText(sla: Sla | undefined): string | undefined {
  if (sla === undefined) return undefined
  const { startedWithinMs, finishedWithinMs, finishedBy, notOlderThanMs, madeWithinMs, madeBy } = sla
  const zone = sla.timezone === undefined ? '' : ` (${sla.timezone})`
  const parts = [
    startedWithinMs === undefined ? undefined : `started within ${formatDuration(startedWithinMs)}`,
    finishedWithinMs === undefined ? undefined : `finished within ${formatDuration(finishedWithinMs)}`,
    finishedBy === undefined ? undefined : `finished by ${finishedBy}${zone}`,
    notOlderThanMs === undefined ? undefined : `a success every ${formatDuration(notOlderThanMs)}`,
    madeWithinMs === undefined ? undefined : `partitions made within ${formatDuration(madeWithinMs)}`,
    madeBy === undefined ? undefined : `partitions made by ${madeBy}${zone}`,
  ]
  return parts.filter((part) => part !== undefined).join(', ')
}

/** The promises of a round as a person would write them. */
export function slaInput(sla: Sla): SlaInput {
  const { startedWithinMs, finishedWithinMs, finishedBy, notOlderThanMs, timezone } = sla
  const written = {
    startedWithin: startedWithinMs,
    finishedWithin: finishedWithinMs,
    finishedBy,
    notOlderThan: notOlderThanMs,
    timezone,
  }
  return Object.fromEntries(Object.entries(written).filter(([, one]) => one !== undefined))
}

/**
 * The first instant after another at which clocks of a zone show a time of day, by the rules of cron: for a time that
 * clocks skip, the first instant after the jump; for a time that they show twice, the first of the two.
 */
export function nextTimeOfDay(text: string, timezone: string, after: Instant): Instant | undefined {
  const [hour, minute] = text.split(':').map(Number)
  return cronSchedule(`${minute} ${hour} * * *`, { timezone }).next(after)
}
