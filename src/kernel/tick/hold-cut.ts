import type { Instant } from '../../time/instant.js'
import type { Schedule } from '../../time/schedule.js'
import { holdsAt, type Hold } from '../hold/hold.js'
import type { LedgerRange, LedgerReason } from '../ledger/ledger.js'
import type { DueTrigger } from '../trigger/trigger.js'

/** A stretch of time: later than `after`, up to and including `until`. */
export interface Stretch {
  readonly after: Instant
  readonly until: Instant
}

/** Cuts `(cursor, until]` by holds: the clear stretches, and a ledger range for each held one with a due instant. */
export function cutHolds(input: { due: DueTrigger; schedule: Schedule; until: Instant }): {
  readonly clear: readonly Stretch[]
  readonly ranges: readonly LedgerRange[]
} {
  const { due, schedule, until } = input
  if (due.holds.length === 0)
    return { clear: until > due.cursorAt ? [{ after: due.cursorAt, until }] : [], ranges: [] }
  const holds = due.holds.filter((hold) => !hold.catchUp)
  const clear: Stretch[] = []
  const ranges: LedgerRange[] = []
  for (const stretch of stretches({ after: due.cursorAt, until }, holds)) {
    const hold = strongestAt(holds, stretch.until)
    if (hold === undefined) clear.push(stretch)
    else ranges.push(...heldRange({ due, schedule, stretch, hold }))
  }
  return { clear, ranges }
}

/** The range of due instants of a stretch, if it has any. */
export function instantsWithin(
  schedule: Schedule,
  stretch: Stretch,
): { firstAt: Instant; lastAt: Instant } | undefined {
  const firstAt = schedule.next(stretch.after)
  if (firstAt === undefined || firstAt > stretch.until) return undefined
  return { firstAt, lastAt: schedule.previous(stretch.until + 1) ?? firstAt }
}

/** The window split wherever a hold begins or ends. A hold is in force from its first millisecond to before its last. */
function stretches(window: Stretch, holds: readonly Hold[]): Stretch[] {
  const edges = holds.flatMap((hold) => [hold.fromAt - 1, (hold.untilAt ?? Infinity) - 1])
  const inside = edges.filter((edge) => edge > window.after && edge < window.until)
  const points = [window.after, ...new Set(inside.toSorted((a, b) => a - b)), window.until]
  const result: Stretch[] = []
  for (let i = 1; i < points.length; i++) {
    const after = points[i - 1] as Instant
    const until = points[i] as Instant
    if (until > after) result.push({ after, until })
  }
  return result
}

/** The hold that gives the reason if several cover an instant. */
export function strongestAt(holds: readonly Hold[], at: Instant): Hold | undefined {
  return holds.filter((hold) => holdsAt(hold, at)).toSorted((a, b) => rank(a) - rank(b) || a.id - b.id)[0]
}

function heldRange(input: {
  due: DueTrigger
  schedule: Schedule
  stretch: Stretch
  hold: Hold
}): readonly LedgerRange[] {
  const { due, hold } = input
  const within = instantsWithin(input.schedule, input.stretch)
  if (within === undefined) return []
  const detail = hold.note === '' ? hold.actor : `${hold.actor}: ${hold.note}`
  return [
    {
      trigger: due.trigger.name,
      version: due.version,
      ...within,
      reason: reasonOf(hold),
      rule: 'hold',
      detail,
    },
  ]
}

function reasonOf(hold: Hold): LedgerReason {
  if (hold.target === 'all') return 'frozen'
  return hold.target.startsWith('switch:') ? 'switch' : 'paused'
}

/** The first match gives the reason: a switch before a freeze before a pause. */
function rank(hold: Hold): number {
  if (hold.target.startsWith('switch:')) return 0
  return hold.target === 'all' ? 1 : 2
}
