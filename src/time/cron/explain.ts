import { SECOND_MS } from '../civil.js'
import type { Instant } from '../instant.js'
import { formatCivil } from '../local-time.js'
import { CALENDAR_END, CALENDAR_START, type Segment } from '../zone.js'
import { nextMatch, previousMatch } from './match.js'
import { type CronSchedule, isCaughtUp, isRepeated } from './schedule.js'

/** The effect of one clock change on the occurrences of a schedule. */
export interface ClockChangeNote {
  /**
   * `moved`: local times that clocks skipped run at `changeAt` instead. `dropped`: matching local times do not
   * run, because clocks skipped them or because they have already run. `added`: they run a second time.
   */
  readonly kind: 'moved' | 'added' | 'dropped'
  /** Whether clocks jumped forward (gap) or went back (overlap). */
  readonly cause: 'gap' | 'overlap'
  /** The first instant with the new offset. */
  readonly changeAt: Instant
  /** The first affected local time, such as `2026-03-29T02:30:00`. */
  readonly firstLocal: string
  /** The last affected local time; equal to the first if there is only one. */
  readonly lastLocal: string
}

/** The clock change that moved an occurrence to this instant, or added it. */
export function explainOccurrence(schedule: CronSchedule, at: Instant): ClockChangeNote | undefined {
  if (!(at >= CALENDAR_START && at < CALENDAR_END)) return undefined
  const segment = schedule.zone.segmentAt(at)
  const note = effectAt(schedule, segment)
  if (note?.kind === 'moved') return at === segment.startAt ? note : undefined
  const overlapEnd = segment.startAt + segment.offsetBeforeMs - segment.offsetMs
  return note?.kind === 'added' && at < overlapEnd ? note : undefined
}

/** The effects of the clock changes after `after` and up to `until`, in order. */
export function clockChangeNotes(
  schedule: CronSchedule,
  window: { readonly after: Instant; readonly until: Instant },
): ClockChangeNote[] {
  const notes: ClockChangeNote[] = []
  const end = window.until + 1
  let change = schedule.zone.nextTransition(window.after, end)
  while (change !== undefined) {
    const note = effectAt(schedule, schedule.zone.segmentAt(change.at))
    if (note !== undefined) notes.push(note)
    change = schedule.zone.nextTransition(change.at, end)
  }
  return notes
}

/** The effect of the clock change at the start of a segment, if an affected local time matches. */
function effectAt(schedule: CronSchedule, segment: Segment): ClockChangeNote | undefined {
  const { startAt, offsetMs, offsetBeforeMs } = segment
  const from = startAt + Math.min(offsetMs, offsetBeforeMs)
  const to = startAt + Math.max(offsetMs, offsetBeforeMs)
  const first = nextMatch(schedule.expression, from)
  if (first >= to) return undefined
  const isGap = offsetMs > offsetBeforeMs
  const gapKind = isCaughtUp(schedule, segment) ? 'moved' : 'dropped'
  const overlapKind = isRepeated(schedule) ? 'added' : 'dropped'
  return {
    kind: isGap ? gapKind : overlapKind,
    cause: isGap ? 'gap' : 'overlap',
    changeAt: startAt,
    firstLocal: formatCivil(first),
    lastLocal: formatCivil(previousMatch(schedule.expression, to - SECOND_MS)),
  }
}
