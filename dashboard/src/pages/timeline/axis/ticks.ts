/** The two rows of the axis: dates above, times of the clock below, both in one zone. */
import { lengthOf, type View } from './view.js'
import type { ZoneClock } from './zone-clock.js'

/** A line on the axis and its label. */
export interface Tick {
  readonly atMs: number
  readonly label: string
}

/** The rows of an axis. `major` begins with what was already so when the stretch began. */
export interface Axis {
  readonly major: readonly Tick[]
  readonly minor: readonly Tick[]
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** Steps of the lower row. Those of a day or more are counted by the calendar. */
const clockSteps = [
  second,
  5 * second,
  15 * second,
  30 * second,
  minute,
  5 * minute,
  15 * minute,
  30 * minute,
  hour,
  2 * hour,
  3 * hour,
  6 * hour,
  12 * hour,
]
const daySteps = [1, 2, 7, 14]
const monthSteps = [1, 3]

/** The ticks of a stretch that is `widthPx` wide. Labels of the lower row are at least `roomPx` apart. */
export function ticksOf(
  view: View,
  { clock, widthPx, roomPx = 52 }: { clock: ZoneClock; widthPx: number; roomPx?: number },
): Axis {
  const msPerPx = lengthOf(view) / Math.max(1, widthPx)
  const leastMs = msPerPx * roomPx
  const step = clockSteps.find((ms) => ms >= leastMs)
  if (step !== undefined) {
    return { major: byCalendar(view, clock, dayStarts(1), dayLabel), minor: byClock(view, clock, step) }
  }
  const days = daySteps.find((count) => count * day >= leastMs)
  const minor = byCalendar(
    view,
    clock,
    days === undefined
      ? monthStarts(monthSteps.find((count) => count * 28 * day >= leastMs) ?? 3)
      : dayStarts(days),
    days === undefined ? shortMonth : dayOfMonth,
  ).filter(({ atMs }) => atMs >= view.fromMs)
  const major =
    days === undefined
      ? byCalendar(view, clock, monthStarts(12), yearLabel)
      : byCalendar(view, clock, monthStarts(1), monthLabel)
  return { major, minor }
}

/** Ticks at every local time that is a multiple of the step; when clocks go back, a time is shown twice. */
function byClock(view: View, clock: ZoneClock, stepMs: number): readonly Tick[] {
  const ticks: Tick[] = []
  const firstLocal = Math.floor((clock.toLocal(view.fromMs) - day / 8) / stepMs) * stepMs
  const lastLocal = clock.toLocal(view.untilMs) + day / 8
  for (let local = firstLocal; local <= lastLocal; local += stepMs) {
    for (const atMs of clock.toInstants(local)) {
      if (atMs >= view.fromMs && atMs <= view.untilMs) ticks.push({ atMs, label: clockLabel(local, stepMs) })
    }
  }
  return ticks.toSorted((one, other) => one.atMs - other.atMs)
}

/** Ticks at local dates. The first one may be before the shown period: its label is at the edge. */
function byCalendar(
  view: View,
  clock: ZoneClock,
  starts: (fromLocal: number) => Generator<number>,
  label: (localMs: number) => string,
): readonly Tick[] {
  const ticks: Tick[] = []
  for (const local of starts(clock.toLocal(view.fromMs))) {
    const atMs = startOfDay(clock, local)
    if (atMs > view.untilMs) break
    ticks.push({ atMs, label: label(local) })
  }
  return ticks
}

/** The first instant of a local date; where clocks skip midnight it is later. */
export function startOfDay(clock: ZoneClock, localMidnight: number): number {
  for (let local = localMidnight; local < localMidnight + 6 * hour; local += 15 * minute) {
    const [atMs] = clock.toInstants(local)
    if (atMs !== undefined) return atMs
  }
  return localMidnight
}

/** Every date, every other one, or Mondays, as local midnights; begins at or before the given local time. */
function dayStarts(count: number) {
  // The first day of 1970 was a Thursday: weeks begin on a Monday.
  const shift = count % 7 === 0 ? 4 * day : 0
  return function* starts(fromLocal: number): Generator<number> {
    for (
      let local = Math.floor((fromLocal - shift) / (count * day)) * count * day + shift;
      ;
      local += count * day
    )
      yield local
  }
}

function monthStarts(count: number) {
  return function* starts(fromLocal: number): Generator<number> {
    const date = new Date(fromLocal)
    const months = date.getUTCFullYear() * 12 + date.getUTCMonth()
    for (let month = Math.floor(months / count) * count; ; month += count) {
      yield Date.UTC(Math.floor(month / 12), month % 12, 1)
    }
  }
}

const formatOf = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat('en', { ...options, timeZone: 'UTC' })
  return (localMs: number): string => format.format(localMs)
}
const weekdayOf = formatOf({ weekday: 'short' })
const dayOfMonth = formatOf({ day: 'numeric' })
const shortMonth = formatOf({ month: 'short' })
const monthLabel = formatOf({ month: 'long', year: 'numeric' })
const yearLabel = formatOf({ year: 'numeric' })

function dayLabel(localMs: number): string {
  return `${weekdayOf(localMs)} ${dayOfMonth(localMs)} ${shortMonth(localMs)}`
}

function clockLabel(localMs: number, stepMs: number): string {
  return new Date(localMs).toISOString().slice(11, stepMs < minute ? 19 : 16)
}
