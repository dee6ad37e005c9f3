import { DAY_MS, firstDayOf, HOUR_MS, packedDateOf } from '../../time/civil.js'
import type { Instant } from '../../time/instant.js'
import { formatCivil, formatOffset } from '../../time/local-time.js'
import { CALENDAR_END, CALENDAR_START, type Zone } from '../../time/zone.js'

/** The length of a slice of time, by the calendar of its zone. */
export type SliceGrain = 'hour' | 'day' | 'week' | 'month'

/** A time range with its label. */
export interface Slice {
  readonly label: string
  readonly fromAt: Instant
  /** The first instant after it. */
  readonly untilAt: Instant
}

/** A grain and a zone, which cut the time line into slices. */
export interface Slicing {
  readonly grain: SliceGrain
  readonly zone: Zone
}

/**
 * The slice that contains an instant. Slices are contiguous. A day begins when its date is first reached and never
 * comes back: if clocks go back over midnight, the repeated time belongs to the day that had begun. An hour is
 * cut where the offset changes, and its label contains the offset, so that the two hours of an overlap differ.
 */
export function sliceAt({ grain, zone }: Slicing, at: Instant): Slice {
  if (grain === 'hour') return hourAt(zone, at)
  const { labelOf, firstDay } = calendars[grain]
  const { index, untilAt } = indexAt(calendars[grain], zone, at)
  return { label: labelOf(index), fromAt: dayBegin(zone, firstDay(index)), untilAt }
}

/** The number of the day that contains an instant, and its end: the slice of that day without its label. */
export function dayAt(zone: Zone, at: Instant): { readonly index: number; readonly untilAt: Instant } {
  return indexAt(calendars.day, zone, at)
}

function indexAt({ indexOf, firstDay }: Calendar, zone: Zone, at: Instant): ReturnType<typeof dayAt> {
  let index = indexOf(Math.floor(zone.toLocal(at) / DAY_MS))
  let untilAt = dayBegin(zone, firstDay(index + 1))
  while (untilAt <= at) {
    index += 1
    untilAt = dayBegin(zone, firstDay(index + 1))
  }
  return { index, untilAt }
}

/** The slice that begins where another ends, up to the end of the calendar. */
export function sliceAfter(slicing: Slicing, { untilAt }: Slice): Slice | undefined {
  return untilAt < CALENDAR_END ? sliceAt(slicing, untilAt) : undefined
}

/** The slice that ends where another begins, down to the start of the calendar. */
export function sliceBefore(slicing: Slicing, { fromAt }: Slice): Slice | undefined {
  return fromAt > CALENDAR_START ? sliceAt(slicing, fromAt - 1) : undefined
}

/** The slice `by` steps after another, or before it if negative; undefined beyond the calendar. */
export function shiftSlice(slicing: Slicing, from: Slice, by: number): Slice | undefined {
  const near = Math.abs(by) <= shortWay ? from : nearSlice(slicing, from, by)
  let slice: Slice | undefined = near
  let left = by - (near === from ? 0 : distance(slicing, from, near))
  for (; left > 0 && slice !== undefined; left--) slice = sliceAfter(slicing, slice)
  for (; left < 0 && slice !== undefined; left++) slice = sliceBefore(slicing, slice)
  return slice
}

/** Shorter distances are walked slice by slice. */
const shortWay = 4

/** A slice near the target, so that a long distance costs as little as a short one. */
function nearSlice(slicing: Slicing, from: Slice, by: number): Slice {
  const at = from.fromAt + by * usualMs[slicing.grain]
  return sliceAt(slicing, Math.min(Math.max(at, CALENDAR_START), CALENDAR_END - 1))
}

const usualMs: Readonly<Record<SliceGrain, number>> = {
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 30.436_875 * DAY_MS,
}

function distance(slicing: Slicing, from: Slice, to: Slice): number {
  return to.fromAt < from.fromAt ? 1 - countSlices(slicing, to, from) : countSlices(slicing, from, to) - 1
}

/** The number of slices from one to another, both included, without iterating over them. */
export function countSlices(slicing: Slicing, first: Slice, last: Slice): number {
  if (slicing.grain === 'hour') return countHours(slicing.zone, first, last)
  const { indexOf } = calendars[slicing.grain]
  const dayAt = (at: Instant): number => Math.floor(slicing.zone.toLocal(at) / DAY_MS)
  const indexes = indexOf(dayAt(last.fromAt)) - indexOf(dayAt(first.fromAt)) + 1
  return slicing.grain === 'day' ? indexes - skippedDays(slicing.zone, first, last) : indexes
}

/** The first instant of a local date, given as its day number; a skipped date begins with the next one. */
export function dayBegin(zone: Zone, dayNumber: number): Instant {
  const resolution = zone.resolve(dayNumber * DAY_MS)
  switch (resolution.kind) {
    case 'unique':
      return resolution.at
    case 'overlap':
      return resolution.first
    case 'gap':
      return resolution.jumpAt
  }
}

/** The number of the ISO week with that index; the weeks are counted from the one of 1970-01-01. */
export function weekOf(index: number): { readonly year: number; readonly week: number } {
  // A week belongs to the year of its Thursday, and day 0 is one.
  const thursday = index * 7
  const year = Math.floor((packedDateOf(thursday) >> 5) / 12)
  return { year, week: 1 + Math.floor((thursday - firstDayOf(year * 12)) / 7) }
}

/** The index of the week that contains a day. */
export function weekIndexOf(dayNumber: number): number {
  return Math.floor((dayNumber + 3) / 7)
}

interface Calendar {
  readonly indexOf: (dayNumber: number) => number
  readonly firstDay: (index: number) => number
  readonly labelOf: (index: number) => string
}

const calendars: Readonly<Record<Exclude<SliceGrain, 'hour'>, Calendar>> = {
  day: { indexOf: (day) => day, firstDay: (index) => index, labelOf: dateOf },
  week: {
    indexOf: weekIndexOf,
    firstDay: (index) => index * 7 - 3,
    labelOf: (index) => {
      const { year, week } = weekOf(index)
      return `${year}-W${String(week).padStart(2, '0')}`
    },
  },
  month: {
    indexOf: (day) => packedDateOf(day) >> 5,
    firstDay: firstDayOf,
    labelOf: (index) => dateOf(firstDayOf(index)).slice(0, 7),
  },
}

function dateOf(dayNumber: number): string {
  return formatCivil(dayNumber * DAY_MS).slice(0, 10)
}

function hourAt(zone: Zone, at: Instant): Slice {
  const offsetMs = zone.offsetAt(at)
  const local = Math.floor((at + offsetMs) / HOUR_MS) * HOUR_MS
  const fromAt = local - offsetMs
  const untilAt = fromAt + HOUR_MS
  let segment = zone.segmentAt(at)
  // A long segment comes in pieces: an hour begins late only where the offset really changes.
  while (segment.startAt > fromAt && segment.offsetBeforeMs === offsetMs) {
    segment = zone.segmentAt(segment.startAt - 1)
  }
  return {
    label: `${formatCivil(local).slice(0, 16)}${offsetMs === 0 ? 'Z' : formatOffset(offsetMs)}`,
    fromAt: Math.max(fromAt, segment.startAt),
    untilAt: zone.nextTransition(at, untilAt)?.at ?? untilAt,
  }
}

function countHours(zone: Zone, first: Slice, last: Slice): number {
  let count = 0
  let fromAt = first.fromAt
  while (fromAt < last.untilAt) {
    const offsetMs = zone.offsetAt(fromAt)
    const change = zone.nextTransition(fromAt, last.untilAt)
    const untilAt = change?.at ?? last.untilAt
    count += Math.floor((untilAt - 1 + offsetMs) / HOUR_MS) - Math.floor((fromAt + offsetMs) / HOUR_MS) + 1
    fromAt = untilAt
  }
  return count
}

/** The dates that clocks skipped entirely, as on islands that crossed the date line. */
function skippedDays(zone: Zone, first: Slice, last: Slice): number {
  let skipped = 0
  let change = zone.nextTransition(first.fromAt, last.untilAt)
  while (change !== undefined) {
    const { at, offsetBefore, offsetAfter } = change
    skipped += Math.max(0, Math.floor((at + offsetAfter) / DAY_MS) - Math.ceil((at + offsetBefore) / DAY_MS))
    change = zone.nextTransition(at, last.untilAt)
  }
  return skipped
}
