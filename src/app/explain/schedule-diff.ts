import { nextLook, scheduleOf, type ScheduleSpec } from '../../kernel/trigger/schedule.js'
import type { Instant } from '../../time/instant.js'

/** The effect of a changed schedule on its due instants in a range of time. */
export interface ScheduleDiff {
  readonly appear: readonly Instant[]
  readonly vanish: readonly Instant[]
  /** Whether there are more instants than were compared. */
  readonly isCapped: boolean
}

/** How many due instants of each schedule are compared. */
const mostCompared = 10_000

/** How many instants of each list are shown. */
const mostTold = 500

/** Compares the due instants of two schedules between two instants. */
export function scheduleDiff(
  schedules: { readonly before: ScheduleSpec; readonly after: ScheduleSpec },
  { from, until }: { readonly from: Instant; readonly until: Instant },
): ScheduleDiff {
  const [before, after] = [schedules.before, schedules.after].map((spec) => instantsOf(spec, { from, until }))
  // Beyond the end of the shorter list its instants are unknown.
  const knownUntil = Math.min(
    ...[before, after].map((list) => (list?.isCapped ? (list.at.at(-1) ?? from) : until)),
  )
  const known = (list: typeof before): readonly Instant[] => (list?.at ?? []).filter((at) => at <= knownUntil)
  const [old, fresh] = [new Set(known(before)), new Set(known(after))]
  const appear = [...fresh].filter((at) => !old.has(at))
  const vanish = [...old].filter((at) => !fresh.has(at))
  const isCut = appear.length > mostTold || vanish.length > mostTold
  return {
    appear: appear.slice(0, mostTold),
    vanish: vanish.slice(0, mostTold),
    isCapped: isCut || before?.isCapped === true || after?.isCapped === true,
  }
}

function instantsOf(spec: ScheduleSpec, { from, until }: { from: Instant; until: Instant }) {
  const schedule = scheduleOf(spec)
  const found: Instant[] = []
  let at = nextLook(spec, schedule, from)
  while (at !== undefined && at <= until && found.length < mostCompared) {
    found.push(at)
    at = nextLook(spec, schedule, at)
  }
  return { at: found, isCapped: found.length === mostCompared }
}
