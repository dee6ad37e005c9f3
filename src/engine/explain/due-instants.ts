import { isAddition, type RecordedRange } from '../../kernel/ledger/ledger.js'
import type { StoredTrigger, TriggerVersion } from '../../kernel/trigger/trigger.js'
import { kindOf, type TriggerKinds } from '../trigger-kind.js'
import type { Instant } from '../../time/instant.js'

/** A range of time, both ends included. */
export interface Window {
  readonly fromAt: Instant
  readonly untilAt: Instant
}

/** A trigger with its records in a range of time. */
export interface Recorded {
  readonly kinds: TriggerKinds
  readonly trigger: StoredTrigger
  readonly versions: readonly TriggerVersion[]
  readonly ranges: readonly RecordedRange[]
  /** Its own runs by due instant. */
  readonly runs: ReadonlyMap<Instant, unknown>
}

/** The due instants of a period, oldest first. Of a recorded range only the first instant is returned; the others are skipped. */
export function* dueInstants(recorded: Recorded, window: Window): Generator<Instant> {
  if (isChain(recorded)) {
    yield* chainInstants(recorded, window)
    return
  }
  for (const version of recorded.versions) {
    if (!version.trigger.enabled) continue
    const schedule = kindOf(recorded.kinds, version.trigger).instants(version.trigger)
    if (schedule === undefined) continue
    const until = Math.min(window.untilAt, version.validUntil ?? Infinity)
    let at = schedule.next(Math.max(version.validFrom, window.fromAt - 1))
    while (at !== undefined && at <= until) {
      yield at
      at = schedule.next(nextToLookAt(recorded, at, until))
    }
  }
}

function nextToLookAt(recorded: Recorded, at: Instant, until: Instant): Instant {
  const range = recorded.runs.has(at) ? undefined : rangeOver(recorded.ranges, at)
  if (range === undefined) return at
  const runInside = [...recorded.runs.keys()].filter((due) => due > at && due <= range.lastAt)
  return Math.min(range.lastAt, until, ...runInside.map((due) => due - 1))
}

/** The same, newest first. */
export function* dueBackwards(recorded: Recorded, window: Window): Generator<Instant> {
  if (isChain(recorded)) {
    yield* chainInstants(recorded, window).toReversed()
    return
  }
  for (const version of recorded.versions.toReversed()) {
    if (!version.trigger.enabled) continue
    const schedule = kindOf(recorded.kinds, version.trigger).instants(version.trigger)
    if (schedule === undefined) continue
    const from = Math.max(version.validFrom + 1, window.fromAt)
    let at = schedule.previous(Math.min(window.untilAt, version.validUntil ?? Infinity) + 1)
    while (at !== undefined && at >= from) {
      yield at
      at = schedule.previous(previousToLookAt(recorded, at))
    }
  }
}

function previousToLookAt(recorded: Recorded, at: Instant): Instant {
  const range = recorded.runs.has(at) ? undefined : rangeOver(recorded.ranges, at)
  if (range === undefined) return at
  const runInside = [...recorded.runs.keys()].filter((due) => due < at && due >= range.firstAt)
  return Math.max(range.firstAt, ...runInside.map((due) => due + 1))
}

function chainInstants(recorded: Recorded, window: Window): Instant[] {
  const next = recorded.trigger.nextAt === undefined ? [] : [recorded.trigger.nextAt]
  const all = [...recorded.runs.keys(), ...recorded.ranges.map((range) => range.firstAt), ...next]
  return [...new Set(all)]
    .filter((at) => at >= window.fromAt && at <= window.untilAt)
    .toSorted((a, b) => a - b)
}

/** Whether each instant is measured from the end of the previous run. */
export function isChain({ kinds, trigger }: Recorded): boolean {
  return kindOf(kinds, trigger.trigger).isChain === true
}

/** The recorded range that contains an instant. */
export function rangeOver(ranges: readonly RecordedRange[], at: Instant): RecordedRange | undefined {
  return ranges.find((range) => range.firstAt <= at && at <= range.lastAt && !isAddition(range))
}
