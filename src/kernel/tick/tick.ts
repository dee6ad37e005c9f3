import type { Instant } from '../../time/instant.js'
import type { Schedule } from '../../time/schedule.js'
import { catchUp } from './catch-up.js'
import { cutCalendar } from './calendar-cut.js'
import { cutHolds } from './hold-cut.js'
import type { Hold } from '../hold/hold.js'
import { instantOfRunId, type RunId } from '../identity/identity.js'
import type { LedgerRange } from '../ledger/ledger.js'
import type { StateChange } from '../state/state-entry.js'
import { newTriggerRun } from '../identity/occurrence.js'
import { resolveOverlap, type Supersede } from './overlap.js'
import { cutPartitions } from './partition-cut.js'
import type { NewRun } from '../run/run.js'
import { runEntries } from './run-entries.js'
import { nextLook, scheduleOf } from '../trigger/schedule.js'
import type { CheckNotice } from '../trigger/round-spec.js'
import type { DueTrigger } from '../trigger/trigger.js'

/** One evaluation of one trigger: its changes, which are written together or not at all. */
export interface Tick {
  readonly trigger: string
  /** The revision it was computed from; if the store has another one, it writes nothing. */
  readonly revision: number
  readonly at: Instant
  readonly cursorAt: Instant
  readonly nextAt: Instant | undefined
  /** The run whose end continues an after-finish trigger. */
  readonly chainRun: RunId | undefined
  readonly runs: readonly NewRun[]
  readonly ranges: readonly LedgerRange[]
  /** What the newest run does to the trigger's older unfinished ones. */
  readonly supersede: Supersede | undefined
  /** Changes of state entries; if one has another revision, nothing of the tick is written. */
  readonly stateChanges?: readonly StateChange[] | undefined
  /** Whether arrivals that this tick did not remove cause another tick; needed since arrivals change no revision. */
  readonly takesArrivals?: boolean | undefined
  /** The due and the skipped services of a round, for events; the ranges are what is stored. */
  readonly checks?: readonly CheckNotice[] | undefined
  /** Observations that count as seen from now on. */
  readonly seen?: readonly SeenKey[] | undefined
}

/** A processed observation: a digest of its key, and until when it is remembered (absent: forever). */
export interface SeenKey {
  readonly digest: string
  readonly untilAt?: Instant | undefined
}

/** Which instants a tick plans; default: all that became due. */
export interface TickWindow {
  /** The last instant, which may be in the future; default: now. */
  readonly untilAt?: Instant | undefined
  /** The greatest age of an instant that becomes a run; default: the trigger's own. */
  readonly lookBackMs?: number | undefined
}

/**
 * Decides the disposition of each instant in `(cursor, until]`, for triggers whose due instants follow from their
 * definition. Pure: two schedulers plan the same.
 */
export function planTick(given: DueTrigger, now: Instant, window: TickWindow = {}): Tick {
  const { untilAt = now, lookBackMs } = window
  const due = lookBackMs === undefined ? given : lookingBack(given, lookBackMs)
  const instants = scheduleOf(due.trigger.schedule)
  const held = cutHolds({ due, schedule: instants, until: untilAt })
  const allowed = cutCalendar({ due, schedule: instants, clear: held.clear })
  const { clear, ranges } = cutPartitions({ due, schedule: instants, clear: allowed.clear })
  const caught = catchUp({ due, schedule: instants, clear, now })
  const resolved = resolveOverlap(due, instants, caught.candidates)
  const runs = resolved.instants.map((dueAt) => newTriggerRun(due, dueAt))
  return {
    trigger: due.trigger.name,
    revision: due.revision,
    at: now,
    cursorAt: Math.max(due.cursorAt, untilAt),
    nextAt: nextTickAt(due, instants, untilAt),
    chainRun: undefined,
    runs,
    ranges: [
      ...held.ranges,
      ...allowed.ranges,
      ...ranges,
      ...followOverlap(caught.ranges, resolved.ranges),
      ...resolved.ranges,
    ],
    supersede: resolved.supersede,
    ...runEntries(due.trigger, runs),
  }
}

function lookingBack(due: DueTrigger, maxAgeMs: number): DueTrigger {
  const { trigger } = due
  return { ...due, trigger: { ...trigger, catchUp: { ...trigger.catchUp, maxAgeMs } } }
}

/** Instants that were collapsed into one that is then skipped by overlap get the overlap as their reason. */
function followOverlap(
  collapsed: readonly LedgerRange[],
  overlapped: readonly LedgerRange[],
): readonly LedgerRange[] {
  return collapsed.map((range) => {
    const into = range.reason === 'collapsed' ? instantOfRunId(range.blocker as RunId) : undefined
    const met =
      into === undefined ? undefined : overlapped.find((met) => met.firstAt <= into && into <= met.lastAt)
    if (met === undefined) return range
    return { ...range, reason: met.reason, rule: met.rule, blocker: met.blocker }
  })
}

function nextTickAt(due: DueTrigger, schedule: Schedule, now: Instant): Instant | undefined {
  if (!due.trigger.enabled) return undefined
  const pause = openPause(due, now)
  // If the clock was set back, nothing before the cursor is planned again.
  const plannedAt = Math.max(due.cursorAt, now)
  if (pause !== undefined && pause.untilAt === undefined) return undefined
  return nextLook(due.trigger.schedule, schedule, Math.max((pause?.untilAt ?? -Infinity) - 1, plannedAt))
}

/** The pause of a trigger that is in force. */
export function openPause(due: DueTrigger, now: Instant): Hold | undefined {
  const target = `trigger:${due.trigger.name}`
  return due.holds.find(
    (hold) => hold.target === target && (hold.untilAt === undefined || hold.untilAt > now),
  )
}
