/** The period that the timeline shows, and how it moves. Times are in milliseconds. */

/** A stretch of time. */
export interface View {
  readonly fromMs: number
  readonly untilMs: number
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** The shortest and the longest stretch: a minute, and a little over a year. */
export const shortest = minute
const longest = 400 * day

/** The first and the last instant that can be shown: the server knows no others. */
const first = 0
const last = Date.UTC(2199, 0, 1)

/** The lengths that have a button. */
export const ranges = {
  '15m': 15 * minute,
  '1h': hour,
  '6h': 6 * hour,
  '24h': day,
  '7d': 7 * day,
  '30d': 30 * day,
  '1y': 365 * day,
} as const

/** The name of a length that has a button. */
export type RangeName = keyof typeof ranges

/** How much of the stretch lies before now when it follows the clock. */
const pastShare = 0.72

/** The length of a stretch. */
export function lengthOf({ fromMs, untilMs }: View): number {
  return untilMs - fromMs
}

/** The stretch of a length around now, with more of the past than of the future. */
export function aroundNow(lengthMs: number, nowMs: number): View {
  const fromMs = Math.round(nowMs - lengthMs * pastShare)
  return bounded({ fromMs, untilMs: fromMs + lengthMs })
}

/** Moves a stretch by a part of its length. */
export function panned(view: View, share: number): View {
  const byMs = Math.round(lengthOf(view) * share)
  return bounded({ fromMs: view.fromMs + byMs, untilMs: view.untilMs + byMs })
}

/** Makes a stretch longer or shorter; the instant at `share` of it stays where it is. */
export function zoomed(view: View, factor: number, share = 0.5): View {
  const lengthMs = Math.min(longest, Math.max(shortest, inSeconds(lengthOf(view) * factor)))
  const anchorMs = view.fromMs + lengthOf(view) * share
  const fromMs = Math.round(anchorMs - lengthMs * share)
  return bounded({ fromMs, untilMs: fromMs + lengthMs })
}

/** Whole seconds: an address names no shorter ones. */
function inSeconds(ms: number): number {
  return Math.round(ms / 1000) * 1000
}

/** The same stretch, moved inside what can be shown. */
function bounded({ fromMs, untilMs }: View): View {
  const lengthMs = Math.min(longest, Math.max(shortest, untilMs - fromMs))
  const start = Math.min(Math.max(fromMs, first), last - lengthMs)
  return { fromMs: start, untilMs: start + lengthMs }
}

/** The length that is shown first: a day, or less where everything is younger. */
export function usualLength(ageMs: number): number {
  const young = [ranges['15m'], ranges['1h'], ranges['6h']]
  return young.find((lengthMs) => ageMs < lengthMs * pastShare) ?? day
}

/** Reads the stretch from an address: `range=6h`, and `from` unless it follows the clock. */
export function readView(
  { range, from }: { readonly range: string | null; readonly from: string | null },
  { nowMs, usualMs }: { readonly nowMs: number; readonly usualMs: number },
): { readonly view: View; readonly isFollowing: boolean } {
  const lengthMs = readLength(range) ?? usualMs
  const fromMs = from === null ? Number.NaN : Date.parse(from)
  if (Number.isNaN(fromMs)) return { view: aroundNow(lengthMs, nowMs), isFollowing: true }
  return { view: bounded({ fromMs, untilMs: fromMs + lengthMs }), isFollowing: false }
}

/** A length as part of an address: `6h`, or seconds such as `5400s`. */
export function lengthText(lengthMs: number): string {
  const named = Object.entries(ranges).find(([, ms]) => ms === lengthMs)
  return named?.[0] ?? `${Math.round(lengthMs / 1000)}s`
}

function readLength(text: string | null): number | undefined {
  const named = Object.hasOwn(ranges, text ?? '') ? ranges[text as RangeName] : undefined
  const seconds = /^(\d{1,9})s$/.exec(text ?? '')?.[1]
  if (seconds === undefined) return named
  return Math.min(longest, Math.max(shortest, Number(seconds) * 1000))
}
