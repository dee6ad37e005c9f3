import type { Instant } from '../../time/instant.js'
import type { Schedule } from '../../time/schedule.js'
import { instantsWithin, type Stretch } from './hold-cut.js'
import type { LedgerRange, LedgerReason, LedgerRule } from '../ledger/ledger.js'
import { triggerRunId } from '../identity/occurrence.js'
import type { DueTrigger } from '../trigger/trigger.js'

/** What catch-up needs: the trigger, its instants, and the stretches that nothing holds. */
export interface CatchUpInput {
  readonly due: DueTrigger
  readonly schedule: Schedule
  readonly clear: readonly Stretch[]
  readonly now: Instant
}

/** The instants that may become runs, oldest first, and the ranges of all others. */
export interface CaughtUp {
  readonly candidates: readonly Instant[]
  readonly ranges: readonly LedgerRange[]
}

/**
 * Decides which due instants of the clear stretches may run. Those within the grace are on time under every policy.
 * Walks from the newest backwards and stops at the bounds, so a year of downtime costs no more than an hour of it.
 */
export function catchUp(input: CatchUpInput): CaughtUp {
  const { due, now } = input
  const onTime: Instant[] = []
  const late: Instant[] = []
  let rule: LedgerRule = 'catch-up:skip'
  let rest: Instant | undefined
  for (const at of newestFirst(input)) {
    if (isOnTime(due, at, now)) {
      onTime.unshift(at)
      continue
    }
    const refused = whyNotLate({ due, at, now, onTime: onTime.length, late: late.length })
    if (refused !== undefined) {
      rule = refused
      rest = at
      break
    }
    late.unshift(at)
  }
  const candidates = [...late, ...onTime]
  if (rest === undefined) return { candidates, ranges: [] }
  return { candidates, ranges: restRanges(input, { lastAt: rest, rule, into: candidates[0] }) }
}

function isOnTime(due: DueTrigger, at: Instant, now: Instant): boolean {
  const { catchUp: policy, schedule } = due.trigger
  // A one-shot is never late unless it has a maxAge.
  const limitMs = schedule.kind === 'once' ? (policy.maxAgeMs ?? Infinity) : policy.graceMs
  return now - at <= limitMs
}

/** The rule that keeps a late instant from running, if there is one. */
function whyNotLate(input: {
  due: DueTrigger
  at: Instant
  now: Instant
  onTime: number
  late: number
}): LedgerRule | undefined {
  const { mode, maxAgeMs, maxRuns } = input.due.trigger.catchUp
  if (mode === 'skip') return 'catch-up:skip'
  if (mode === 'latest' && input.onTime + input.late > 0) return 'catch-up:latest'
  if (maxAgeMs !== undefined && input.now - input.at > maxAgeMs) return 'catch-up:max-age'
  if (input.late >= maxRuns) return 'catch-up:max-runs'
  return undefined
}

/** The ranges up to `lastAt`, one per clear stretch: collapsed into the run that replaces them, or missed. */
function restRanges(
  input: CatchUpInput,
  rest: { lastAt: Instant; rule: LedgerRule; into: Instant | undefined },
): LedgerRange[] {
  const { due, schedule, clear } = input
  const collapsed = rest.rule === 'catch-up:latest' && rest.into !== undefined
  const reason: LedgerReason = collapsed ? 'collapsed' : 'missed'
  const blocker = collapsed ? triggerRunId(due.trigger, rest.into as Instant) : undefined
  return clear.flatMap((stretch) => {
    const within = instantsWithin(schedule, {
      after: stretch.after,
      until: Math.min(stretch.until, rest.lastAt),
    })
    if (within === undefined) return []
    return [{ trigger: due.trigger.name, version: due.version, ...within, reason, rule: rest.rule, blocker }]
  })
}

function* newestFirst({ schedule, clear }: CatchUpInput): Generator<Instant> {
  for (const stretch of clear.toReversed()) {
    let at = schedule.previous(stretch.until + 1)
    while (at !== undefined && at > stretch.after) {
      yield at
      at = schedule.previous(at)
    }
  }
}
