import { SECOND_MS } from '../civil.js'
import { formatInstant, type Instant } from '../instant.js'
import type { Schedule } from '../schedule.js'
import { TimeError } from '../time-error.js'
import { CALENDAR_END, CALENDAR_START, type Segment, type Zone, zoneOf } from '../zone.js'
import { assertDstPolicy, type DstPolicy, LONGEST_CAUGHT_UP_MS } from './dst.js'
import type { CronExpression } from './expression.js'
import { nextMatch, previousMatch } from './match.js'
import { parseCron } from './parse.js'

/** The zone of an expression, and its daylight saving policy. */
export interface CronOptions {
  readonly timezone: string
  /** Default: `vixie`. */
  readonly dst?: DstPolicy | undefined
}

/** The occurrences of a cron expression in a zone, from 1970 to the end of 2199. */
export interface CronSchedule extends Schedule {
  readonly expression: CronExpression
  readonly zone: Zone
  readonly dst: DstPolicy
}

/** The schedule of an expression; throws for invalid expressions, zones and policies. */
export function cronSchedule(expression: string, options: CronOptions): CronSchedule {
  const { timezone, dst = 'vixie' } = options
  assertDstPolicy(dst)
  return new ZonedCron(parseCron(expression), zoneOf(timezone), dst)
}

/** Throws if an expression has no occurrence after `after`; default: no occurrence at all. */
export function assertFires(expression: string, options: CronOptions & { readonly after?: Instant }): void {
  const { after } = options
  if (cronSchedule(expression, options).next(after ?? -Infinity) !== undefined) return
  const since = after === undefined ? '' : ` after ${formatInstant(after)}`
  throw new TimeError('CRON_NEVER', `"${expression}" never fires in ${options.timezone}${since}`, {
    allowed: 'an expression with an occurrence before the year 2200',
  })
}

/** Whether times that are skipped at the start of a segment run right after the jump. */
export function isCaughtUp(schedule: CronSchedule, segment: Segment): boolean {
  const jumpMs = segment.offsetMs - segment.offsetBeforeMs
  const { expression, dst } = schedule
  return dst === 'vixie' && expression.hasFixedTimes && jumpMs > 0 && jumpMs <= LONGEST_CAUGHT_UP_MS
}

/** Whether local times that occur twice run twice. */
export function isRepeated(schedule: CronSchedule): boolean {
  return schedule.dst === 'real-time' || !schedule.expression.hasFixedTimes
}

/**
 * Searches in local time, one segment of constant offset after the other: within a segment a match is calendar
 * arithmetic, and daylight saving matters only at the change from one segment to the next. Changes of
 * offset are days apart and shift by a day at most, so no segment is ever skipped as a whole.
 *
 * A class, so that a schedule is one small object: there may be a hundred thousand of them.
 */
class ZonedCron implements CronSchedule {
  readonly expression: CronExpression
  readonly zone: Zone
  readonly dst: DstPolicy

  constructor(expression: CronExpression, zone: Zone, dst: DstPolicy) {
    this.expression = expression
    this.zone = zone
    this.dst = dst
  }

  next(after: Instant): Instant | undefined {
    const earliest = Math.max(CALENDAR_START, Math.floor(after / SECOND_MS) * SECOND_MS + SECOND_MS)
    if (!(earliest < CALENDAR_END)) return beyondCalendar(after)
    let segment = this.zone.segmentAt(earliest)
    if (earliest === segment.startAt && this.#startsWithCatchUp(segment)) return earliest
    let from = Math.max(earliest + segment.offsetMs, this.#firstLocalOf(segment))
    let match = nextMatch(this.expression, from)
    while (match - segment.offsetMs >= segment.endAt) {
      if (segment.endAt >= CALENDAR_END) return undefined
      segment = this.zone.segmentAt(segment.endAt)
      const gapEnd = segment.startAt + segment.offsetMs
      if (match < gapEnd && isCaughtUp(this, segment)) return segment.startAt
      const firstLocal = this.#firstLocalOf(segment)
      // The match is still the first one, unless clocks skipped it or went back before the start of the search.
      if (match < firstLocal || firstLocal < from) match = nextMatch(this.expression, firstLocal)
      else if (match === Infinity) return undefined
      from = firstLocal
    }
    const at = match - segment.offsetMs
    return at < CALENDAR_END ? at : undefined
  }

  previous(before: Instant): Instant | undefined {
    const latest = Math.min(CALENDAR_END, Math.ceil(before / SECOND_MS) * SECOND_MS) - SECOND_MS
    if (!(latest >= CALENDAR_START)) return beyondCalendar(before)
    let segment = this.zone.segmentAt(latest)
    let to = latest + segment.offsetMs
    let match = previousMatch(this.expression, to)
    while (match < this.#firstLocalOf(segment)) {
      if (match >= segment.startAt + segment.offsetBeforeMs && isCaughtUp(this, segment))
        return segment.startAt
      if (segment.startAt <= CALENDAR_START) return undefined
      const lastBefore = segment.startAt - SECOND_MS
      segment = this.zone.segmentAt(lastBefore)
      const lastLocal = lastBefore + segment.offsetMs
      if (match > lastLocal || lastLocal > to) match = previousMatch(this.expression, lastLocal)
      else if (match === -Infinity) return undefined
      to = lastLocal
    }
    const at = match - segment.offsetMs
    return at >= CALENDAR_START ? at : undefined
  }

  /** The first local time of a segment that counts: unless times repeat, those of the previous segment are left out. */
  #firstLocalOf(segment: Segment): number {
    const skipsSecondPass = segment.offsetBeforeMs > segment.offsetMs && !isRepeated(this)
    return segment.startAt + (skipsSecondPass ? segment.offsetBeforeMs : segment.offsetMs)
  }

  #startsWithCatchUp(segment: Segment): boolean {
    if (!isCaughtUp(this, segment)) return false
    return (
      nextMatch(this.expression, segment.startAt + segment.offsetBeforeMs) <
      segment.startAt + segment.offsetMs
    )
  }
}

function beyondCalendar(at: Instant): undefined {
  if (Number.isNaN(at)) {
    throw new TimeError('INSTANT_INVALID', 'NaN is not an instant', { allowed: 'Unix milliseconds' })
  }
  return undefined
}
