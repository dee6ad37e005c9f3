import { DAY_MS } from '../../time/civil.js'
import type { Instant } from '../../time/instant.js'
import type { Schedule } from '../../time/schedule.js'
import { zoneOf, type Zone } from '../../time/zone.js'
import { sliceAt, type Slice } from '../partition/slice.js'
import { calendarExclusion, YEAR_MS, type CalendarRules } from './calendar.js'

/**
 * The allowed instants of a schedule, and the excluded ones moved to the same local time of the next allowed day. The
 * calendars have whole days only, so a day is allowed or excluded as a whole, and a later instant never moves to an
 * earlier day. Both searches rely on that: they go back from the newest instant and stop when the days are too early.
 */
export function movedSchedule(base: Schedule, rules: CalendarRules): Schedule {
  const zone = zoneOf(rules.timezone)
  const { movesFromAt = -Infinity } = rules
  const dayOf = (at: Instant): Slice => sliceAt({ grain: 'day', zone }, at)
  const targetDay = (at: Instant): Slice | undefined => allowedDayFrom(rules, zone, at)
  const isAllowed = (at: Instant): boolean => calendarExclusion(rules, zone, at).by === undefined
  /** Whether no instant is moved to or from a day, which is true for most days. */
  const isPlain = ({ fromAt }: Slice): boolean => isAllowed(fromAt) && isAllowed(fromAt - 1)
  return {
    next(after) {
      const ahead = base.next(after)
      if (after === -Infinity) return ahead
      const today = dayOf(after)
      if (isPlain(today)) return ahead
      let found: Instant | undefined
      for (let at = base.previous(after + 1); at !== undefined && at >= movesFromAt; at = base.previous(at)) {
        const day = targetDay(at)
        if ((day?.fromAt ?? at + YEAR_MS) < today.fromAt) break
        const target = day === undefined || isWithin(day, at) ? undefined : sameTime(zone, at, day)
        if (target !== undefined && target > after) found = Math.min(found ?? Infinity, target)
      }
      return earlier(ahead, found)
    },
    previous(before) {
      const behind = base.previous(before)
      if (behind !== undefined && isPlain(dayOf(before - 1)) && isWithin(dayOf(before - 1), behind))
        return behind
      let found: Instant | undefined
      for (let at = behind; at !== undefined && at >= movesFromAt; at = base.previous(at)) {
        const day = targetDay(at)
        if ((day?.untilAt ?? at + YEAR_MS) <= Math.max(found ?? -Infinity, behind ?? -Infinity)) break
        const target = day === undefined || isWithin(day, at) ? undefined : sameTime(zone, at, day)
        if (target !== undefined && target < before) found = Math.max(found ?? -Infinity, target)
      }
      return found === undefined ? behind : Math.max(found, behind ?? -Infinity)
    },
  }
}

function earlier(one: Instant | undefined, other: Instant | undefined): Instant | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

function isWithin({ fromAt, untilAt }: Slice, at: Instant): boolean {
  return fromAt <= at && at < untilAt
}

/** The day of an instant if it is allowed, otherwise the first allowed day after it. */
function allowedDayFrom(rules: CalendarRules, zone: Zone, at: Instant): Slice | undefined {
  for (let here = at; here <= at + YEAR_MS; ) {
    const { by, untilAt } = calendarExclusion(rules, zone, here)
    if (by === undefined) return sliceAt({ grain: 'day', zone }, here)
    here = untilAt
  }
  return undefined
}

/** The local time of an instant on another day; a time that clocks skip becomes the instant of the jump. */
function sameTime(zone: Zone, at: Instant, day: Slice): Instant {
  const timeOfDay = zone.toLocal(at) % DAY_MS
  const date = Math.floor(zone.toLocal(day.untilAt - 1) / DAY_MS)
  const resolved = zone.resolve(date * DAY_MS + timeOfDay)
  const target =
    resolved.kind === 'gap' ? resolved.jumpAt : resolved.kind === 'overlap' ? resolved.first : resolved.at
  return Math.min(Math.max(target, day.fromAt), day.untilAt - 1)
}
