import { cronSchedule } from '../../time/cron/schedule.js'
import { DAY_MS, weekdayOf } from '../../time/civil.js'
import type { Instant } from '../../time/instant.js'
import { formatCivil } from '../../time/local-time.js'
import { zoneOf, type Zone } from '../../time/zone.js'
import { dayAt, dayBegin } from '../partition/slice.js'

/**
 * A set of times as data. Everything in it is local to the zone of the trigger that uses it, except `instants`. An
 * absent list adds nothing. The times of `except` are removed at the end.
 */
export interface CalendarSpec {
  /** Spans of local time in milliseconds as if they were UTC, the end excluded; sorted, without overlaps. */
  readonly local?: readonly Span[] | undefined
  /** Days of every year, such as `12-25`. */
  readonly yearly?: readonly string[] | undefined
  /** Days of the week; 0 is Sunday. */
  readonly weekdays?: readonly number[] | undefined
  /** Spans between instants; sorted, without overlaps. */
  readonly instants?: readonly Span[] | undefined
  /** Spans that begin whenever an expression matches. */
  readonly windows?: readonly CronWindow[] | undefined
  /** Other sets that are included. */
  readonly also?: readonly CalendarSpec[] | undefined
  readonly except?: readonly CalendarSpec[] | undefined
}

/** The start is included, the end is not. */
export type Span = readonly [from: number, until: number]

/** A span of `forMs` after each match of an expression. */
export interface CronWindow {
  readonly cron: string
  readonly forMs: number
}

/** Whether an instant is in a set, and until when, at least, the answer stays the same. */
export interface Membership {
  readonly isIn: boolean
  readonly untilAt: Instant
}

/** Looks an instant up in a set. */
export function membership(spec: CalendarSpec, zone: Zone, at: Instant): Membership {
  const parts = [
    ...(spec.local === undefined ? [] : [inSpans(spec.local, at, (ms) => beginOf(zone, ms))]),
    ...(spec.instants === undefined ? [] : [inSpans(spec.instants, at, (ms) => ms)]),
    ...(spec.yearly === undefined && spec.weekdays === undefined ? [] : [inDays(spec, zone, at)]),
    ...(spec.windows ?? []).map((window) => inWindow(window, zone, at)),
    ...(spec.also ?? []).map((other) => membership(other, zone, at)),
  ]
  const all = anyOf(parts)
  if (!all.isIn || spec.except === undefined) return all
  const without = anyOf(spec.except.map((other) => membership(other, zone, at)))
  return { isIn: !without.isIn, untilAt: Math.min(all.untilAt, without.untilAt) }
}

/** The membership in the union of several sets. */
export function anyOf(parts: readonly Membership[]): Membership {
  const inside = parts.filter(({ isIn }) => isIn)
  if (inside.length > 0) return { isIn: true, untilAt: Math.max(...inside.map(({ untilAt }) => untilAt)) }
  return { isIn: false, untilAt: Math.min(Infinity, ...parts.map(({ untilAt }) => untilAt)) }
}

/** Whether a set has whole local days only. */
export function hasWholeDays(spec: CalendarSpec): boolean {
  const isWhole = ([from, until]: Span): boolean => from % DAY_MS === 0 && until % DAY_MS === 0
  return (
    (spec.local ?? []).every(isWhole) &&
    (spec.instants ?? []).length === 0 &&
    (spec.windows ?? []).length === 0 &&
    [...(spec.also ?? []), ...(spec.except ?? [])].every(hasWholeDays)
  )
}

/** The instant at which a local time is first reached; one that clocks skip is reached at the jump. */
function beginOf(zone: Zone, localMs: number): Instant {
  if (localMs % DAY_MS === 0) return dayBegin(zone, localMs / DAY_MS)
  const resolved = zone.resolve(localMs)
  if (resolved.kind === 'gap') return resolved.jumpAt
  return resolved.kind === 'overlap' ? resolved.first : resolved.at
}

function inSpans(spans: readonly Span[], at: Instant, instantOf: (ms: number) => Instant): Membership {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (instantOf((spans[middle] as Span)[0]) <= at) low = middle + 1
    else high = middle
  }
  const last = spans[low - 1]
  const endAt = last === undefined ? -Infinity : instantOf(last[1])
  if (at < endAt) return { isIn: true, untilAt: endAt }
  const next = spans[low]
  return { isIn: false, untilAt: next === undefined ? Infinity : instantOf(next[0]) }
}

function inDays({ yearly, weekdays }: CalendarSpec, zone: Zone, at: Instant): Membership {
  const { index, untilAt } = dayAt(zone, at)
  const isIn =
    weekdays?.includes(weekdayOf(index)) === true ||
    yearly?.includes(formatCivil(index * DAY_MS).slice(5, 10)) === true
  return { isIn, untilAt }
}

function inWindow({ cron, forMs }: CronWindow, zone: Zone, at: Instant): Membership {
  const starts = cronSchedule(cron, { timezone: zone.name })
  // All windows are equally long, so the one that began last ends last.
  const endAt = (starts.previous(at + 1) ?? -Infinity) + forMs
  if (at < endAt) return { isIn: true, untilAt: endAt }
  return { isIn: false, untilAt: starts.next(at) ?? Infinity }
}

/** When a trigger may be due. Part of its schedule: it contains all sets it needs, so it means the same everywhere. */
export interface CalendarRules {
  /** The zone that decides when a day begins. */
  readonly timezone: string
  /** Due only in one of these. */
  readonly include?: readonly NamedCalendar[] | undefined
  /** Not due in any of these. */
  readonly exclude?: readonly NamedCalendar[] | undefined
  /** Never due in these, whatever the calendars say. */
  readonly blackouts?: readonly Blackout[] | undefined
  /** Moves an instant that the calendars exclude to the next day they allow; otherwise it does not run. */
  readonly onExcluded?: 'next-day' | undefined
  /** Instants before this are not moved, because the definition was not in force yet. Absent: all are moved. */
  readonly movesFromAt?: Instant | undefined
}

/** A set and its name. */
export interface NamedCalendar {
  readonly name: string
  readonly times: CalendarSpec
}

/** A set of times in which nothing is due. */
export interface Blackout {
  readonly note: string
  readonly times: CalendarSpec
}

/** The rule that excludes an instant. */
export interface Exclusion {
  readonly reason: 'blackout' | 'calendar'
  readonly rule: 'blackout' | 'calendar:exclude' | 'calendar:include' | 'calendar:next-day'
  /** The calendars by name, or the note of the blackout. */
  readonly detail: string
}

/** The rule that excludes an instant, if any, and until when, at least, the answer stays the same. */
export function exclusionAt(
  rules: CalendarRules,
  at: Instant,
): { readonly by: Exclusion | undefined; readonly untilAt: Instant } {
  const zone = zoneOf(rules.timezone)
  let clearUntil = Infinity
  for (const { note, times } of rules.blackouts ?? []) {
    const { isIn, untilAt } = membership(times, zone, at)
    clearUntil = Math.min(clearUntil, untilAt)
    if (isIn) return { by: { reason: 'blackout', rule: 'blackout', detail: note }, untilAt: clearUntil }
  }
  const excluded = calendarExclusion(rules, zone, at)
  return { by: excluded.by, untilAt: Math.min(excluded.untilAt, clearUntil) }
}

/** The same without blackouts. */
export function calendarExclusion(
  rules: CalendarRules,
  zone: Zone,
  at: Instant,
): { readonly by: Exclusion | undefined; readonly untilAt: Instant } {
  const { include, exclude = [], onExcluded } = rules
  const moved = onExcluded === undefined ? undefined : 'calendar:next-day'
  let clearUntil = Infinity
  for (const { name, times } of exclude) {
    const { isIn, untilAt } = membership(times, zone, at)
    const rule = moved ?? 'calendar:exclude'
    // The first that matches gives the reason, even if one that is earlier in the list begins inside it.
    clearUntil = Math.min(clearUntil, untilAt)
    if (isIn) return { by: { reason: 'calendar', rule, detail: name }, untilAt: clearUntil }
  }
  if (include === undefined) return { by: undefined, untilAt: clearUntil }
  const { isIn, untilAt } = anyOf(include.map(({ times }) => membership(times, zone, at)))
  const rule = moved ?? 'calendar:include'
  const detail = include.map(({ name }) => name).join(', ')
  // Outside the included times another rule may give the reason a moment later, so neither answer is valid for longer.
  return {
    by: isIn ? undefined : { reason: 'calendar', rule, detail: `outside of ${detail}` },
    untilAt: Math.min(untilAt, clearUntil),
  }
}

/** The first instant from `at` on that no rule excludes; undefined if there is none within the limit. */
export function firstAllowed(rules: CalendarRules, at: Instant, limitMs = YEAR_MS): Instant | undefined {
  for (let here = at; here <= at + limitMs; ) {
    const { by, untilAt } = exclusionAt(rules, here)
    if (by === undefined) return here
    here = untilAt
  }
  return undefined
}

/** How far ahead an allowed time is looked for. */
export const YEAR_MS = 366 * DAY_MS
