import { readCalendars, type StoredCalendar } from '../../engine/sync/calendars.js'
import { membership, type CalendarSpec, type Span } from '../../kernel/calendar/calendar.js'
import { RotaError } from '../../kernel/definition/errors.js'
import { noneNamed } from '../../kernel/definition/read-value.js'
import type { StoredTrigger } from '../../kernel/trigger/trigger.js'
import type { Store } from '../../store/port.js'
import { DAY_MS } from '../../time/civil.js'
import { formatDuration } from '../../time/duration.js'
import { formatInstant, type Instant } from '../../time/instant.js'
import { formatCivil, formatLocal } from '../../time/local-time.js'
import { zoneOf } from '../../time/zone.js'

/** A calendar of the store, and the triggers that use it. */
export interface CalendarInfo {
  readonly name: string
  readonly source: string
  /** When its times last changed. */
  readonly changedAt: Instant
  /** What is in it, in words. */
  readonly times: readonly string[]
  /** Triggers that are due only in it. */
  readonly includedBy: readonly string[]
  /** Triggers that are not due in it. */
  readonly excludedBy: readonly string[]
}

/** A period that is in a calendar. */
export interface ExcludedStretch {
  readonly fromAt: Instant
  readonly untilAt: Instant
  /** In the requested zone. */
  readonly from: string
  readonly until: string
}

/** All calendars with the triggers that use them, by name. */
export async function calendarInfos(store: Store): Promise<readonly CalendarInfo[]> {
  const [calendars, triggers] = [await readCalendars(store), await store.triggers({ active: true })]
  return calendars.map((one) => infoOf(one, triggers))
}

/** One calendar with the triggers that use it. */
export async function calendarInfo(store: Store, name: string): Promise<CalendarInfo> {
  return infoOf(await findCalendar(store, name), await store.triggers({ active: true }))
}

async function findCalendar(store: Store, name: string): Promise<StoredCalendar> {
  const all = await readCalendars(store)
  const found = all.find((one) => one.name === name)
  if (found !== undefined) return found
  const known = all.map((one) => one.name)
  const message = noneNamed('calendar is named', name, { known, list: 'rota calendar list' })
  throw new RotaError('CALENDAR_UNKNOWN', message)
}

/** The next periods that are in a calendar, with days of a zone. */
export async function nextStretches(
  store: Store,
  request: {
    readonly name: string
    readonly timezone: string
    readonly after: Instant
    readonly count: number
  },
): Promise<readonly ExcludedStretch[]> {
  const { times } = await findCalendar(store, request.name)
  const zone = zoneOf(request.timezone)
  const found: ExcludedStretch[] = []
  let at = request.after
  // Long enough to find a day that exists only in leap years.
  while (found.length <= request.count && at < request.after + 9 * 366 * DAY_MS) {
    const { isIn, untilAt } = membership(times, zone, at)
    if (isIn) {
      const last = found.at(-1)
      const isJoined = last !== undefined && last.untilAt === at
      const fromAt = isJoined ? last.fromAt : at
      const stretch = { fromAt, untilAt, from: formatLocal(fromAt, zone), until: formatLocal(untilAt, zone) }
      if (isJoined) found[found.length - 1] = stretch
      else found.push(stretch)
    }
    at = untilAt
  }
  // The last one may continue beyond the range that was read.
  return found.slice(0, request.count)
}

function infoOf(
  { name, source, times, changedAt }: StoredCalendar,
  triggers: readonly StoredTrigger[],
): CalendarInfo {
  const using = (how: 'include' | 'exclude'): readonly string[] =>
    triggers
      .filter(({ trigger }) => trigger.schedule.calendar?.[how]?.some((one) => one.name === name) === true)
      .map(({ trigger }) => trigger.name)
  return {
    name,
    source,
    changedAt,
    times: timesText(times),
    includedBy: using('include'),
    excludedBy: using('exclude'),
  }
}

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** What is in a calendar, one line for each part. */
export function timesText(spec: CalendarSpec): readonly string[] {
  return [
    ...(spec.weekdays ?? []).map((day) => `every ${weekdays[day]}`),
    ...(spec.yearly ?? []).map((day) => `every year on ${day}`),
    ...(spec.local ?? []).map(localText),
    ...(spec.instants ?? []).map(([from, until]) => `${formatInstant(from)} to ${formatInstant(until)}`),
    ...(spec.windows ?? []).map(({ cron, forMs }) => `${formatDuration(forMs)} from each ${cron}`),
    ...(spec.also ?? []).flatMap(timesText),
    ...(spec.except ?? []).flatMap((other) => timesText(other).map((text) => `not ${text}`)),
  ]
}

function localText([from, until]: Span): string {
  const isDays = from % DAY_MS === 0 && until % DAY_MS === 0
  if (!isDays) return `${formatCivil(from)} to ${formatCivil(until)}`
  const [first, last] = [from, until - DAY_MS].map((ms) => formatCivil(ms).slice(0, 10))
  return first === last ? String(first) : `${first} to ${last}`
}
