import { cronSchedule } from '../../time/cron/schedule.js'
import { DAY_MS } from '../../time/civil.js'
import { fault, shown, within, type Place } from '../definition/faults.js'
import { readChoice, readOptions, type Written } from '../definition/read-value.js'
import { hasWholeDays, type Blackout, type CalendarRules, type NamedCalendar } from './calendar.js'
import { readItems, readNames, readRange, readWindow, type Calendars } from './define-calendar.js'

/** Which calendars a trigger uses. */
export interface CalendarOptions {
  /** Due only in one of these calendars. */
  readonly include?: string | readonly string[] | undefined
  /** Not due in any of these calendars. */
  readonly exclude?: string | readonly string[] | undefined
  /** What happens to an excluded instant: nothing (`skip`, the default), or it moves to the same local time of the next allowed day (`next-day`). */
  readonly onExcluded?: 'skip' | 'next-day' | undefined
}

/** A period in which nothing is due: from one time to another, after each match of a cron expression, or a calendar. */
export interface BlackoutInput {
  /** A date, or a time such as `2026-12-24T18:00`. */
  readonly from?: string | undefined
  /** The last date, or the time at which it ends. */
  readonly to?: string | undefined
  readonly cron?: string | undefined
  /** The length with `cron`, such as `2h`. */
  readonly for?: string | number | undefined
  /** The name of a calendar. */
  readonly calendar?: string | undefined
  /** The reason; it is stored in the ledger. */
  readonly note?: string | undefined
}

/** The options of a trigger that exclude instants. */
export const rulesOptionNames = ['calendar', 'blackouts'] as const

/** Reads which instants are excluded from a schedule; undefined if none are. */
export function readRules(
  input: Written,
  context: { readonly timezone: string; readonly calendars?: Calendars | undefined },
  place: Place,
): CalendarRules | undefined {
  const { calendars: known = new Map() as Calendars, timezone } = context
  const blackouts = readBlackouts(input['blackouts'], known, within(place, 'blackouts'))
  const written = input['calendar']
  const at = within(place, 'calendar')
  const options =
    written === undefined ? {} : (readOptions(written, ['include', 'exclude', 'onExcluded'], at) ?? {})
  const include = readNames(options['include'], known, within(at, 'include'))
  const exclude = readNames(options['exclude'], known, within(at, 'exclude'))
  const onExcluded = readChoice(options['onExcluded'], ['skip', 'next-day'], within(at, 'onExcluded'))
  if (written !== undefined) refuseContradictions({ options, include, exclude }, at)
  if (written === undefined && blackouts.length === 0) return undefined
  return {
    timezone,
    ...(include.length === 0 ? {} : { include }),
    ...(exclude.length === 0 ? {} : { exclude }),
    ...(blackouts.length === 0 ? {} : { blackouts }),
    ...(onExcluded === 'next-day' ? { onExcluded } : {}),
  }
}

function refuseContradictions(
  given: {
    readonly options: Written
    readonly include: readonly NamedCalendar[]
    readonly exclude: readonly NamedCalendar[]
  },
  place: Place,
): void {
  const { options, include, exclude } = given
  if (options['include'] === undefined && options['exclude'] === undefined)
    fault(place, 'it names no calendar', 'include, exclude or both')
  for (const { name } of exclude) {
    if (!include.some((one) => one.name === name)) continue
    fault(within(place, 'exclude'), `${name} is also in ${place.keys.join('.')}.include`, 'either of them')
  }
  if (options['onExcluded'] !== 'next-day') return
  const partial = [...include, ...exclude].find(({ times }) => !hasWholeDays(times))
  if (partial === undefined) return
  const message = `next-day needs whole days, and calendar ${partial.name} in ${place.keys.join('.')} has parts of days`
  fault(within(place, 'onExcluded'), message, 'skip, or calendars of whole days')
}

/** Reads the periods in which nothing is due. */
export function readBlackouts(value: unknown, known: Calendars, place: Place): readonly Blackout[] {
  return readItems(value, place).flatMap(([written, at]) => {
    const input = readOptions(written, ['from', 'to', 'cron', 'for', 'calendar', 'note'], at)
    if (input === undefined) return []
    const { note = '' } = input
    if (typeof note !== 'string' || note.length > 256)
      fault(within(at, 'note'), `${shown(note)} is not a note`, 'a text of at most 256 characters')
    const ways = ['from', 'cron', 'calendar'].filter((name) => input[name] !== undefined)
    if (ways.length !== 1) {
      fault(
        at,
        ways.length === 0 ? 'it has no times' : `${ways.join(' and ')} cannot be combined`,
        'from and to, cron and for, or calendar',
      )
      return []
    }
    const times = readStretch(input, known, at)
    return times === undefined ? [] : [{ note: String(note), times }]
  })
}

function readStretch(input: Written, known: Calendars, place: Place): Blackout['times'] | undefined {
  if (input['calendar'] !== undefined)
    return readNames(input['calendar'], known, within(place, 'calendar'))[0]?.times
  if (input['from'] !== undefined) return readRange(input, place)
  const window = readWindow(input, place)
  return window === undefined ? undefined : { windows: [window] }
}

/** With more instants per day, moving those of excluded days would put implausibly many on one day. */
const mostMovedPerDay = 24

/** Records a fault if a schedule cannot move its instants to another day. */
export function checkMoved(
  spec: {
    readonly kind: string
    readonly everyMs?: number
    readonly expression?: string
    readonly timezone?: string
  },
  place: Place,
): void {
  const { kind, everyMs = Infinity, expression = '', timezone = 'UTC' } = spec
  const allowed = `skip, or a schedule with at most ${mostMovedPerDay} instants a day`
  const refuse = (why: string): void => fault(['calendar', 'onExcluded'].reduce(within, place), why, allowed)
  if (kind === 'once') return
  if (kind !== 'cron' && kind !== 'interval') return refuse(`next-day cannot be used with ${kind}`)
  const isOften = kind === 'cron' ? isOftenCron(expression, timezone) : everyMs * mostMovedPerDay < DAY_MS
  if (isOften) refuse(`next-day needs at most ${mostMovedPerDay} instants a day`)
}

/** Checks the first instants only: later days differ only by clock changes and dates. */
function isOftenCron(expression: string, timezone: string): boolean {
  const schedule = cronSchedule(expression, { timezone })
  const found: number[] = []
  let at = schedule.next(0)
  while (at !== undefined && found.length < 40 * mostMovedPerDay) {
    found.push(at)
    at = schedule.next(at)
  }
  return found.some((one, i) => (found[i + mostMovedPerDay] ?? Infinity) - one < DAY_MS)
}
