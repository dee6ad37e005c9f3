import type { Instant } from '../../time/instant.js'
import type { Schedule } from '../../time/schedule.js'
import type { RunId } from '../identity/identity.js'
import type { LedgerRange, LedgerRule } from '../ledger/ledger.js'
import { triggerRunId } from '../identity/occurrence.js'
import type { DueTrigger, UnfinishedRun } from '../trigger/trigger.js'

/** What a new run does to the older unfinished runs of its trigger. */
export interface Supersede {
  /** `cancel` asks the holder to stop and waits for it; `terminate` closes its claim immediately. */
  readonly mode: 'cancel' | 'terminate'
  readonly by: RunId
}

/** Which candidates become runs, and the ranges of the others. */
export interface Resolved {
  readonly instants: readonly Instant[]
  readonly ranges: readonly LedgerRange[]
  readonly supersede: Supersede | undefined
}

/**
 * Decides which candidates become runs while other runs are unfinished. Of candidates that are found together, as after
 * a moment without a scheduler, only the newest can run unless the policy queues them: the older ones are collapsed
 * into it. The claim enforces again that no two run concurrently.
 */
export function resolveOverlap(
  due: DueTrigger,
  schedule: Schedule,
  candidates: readonly Instant[],
): Resolved {
  const found = { due, schedule, candidates }
  switch (due.trigger.overlap) {
    case 'allow':
    case 'queue-all':
      return { instants: candidates, ranges: [], supersede: undefined }
    case 'skip':
      return newestUnless(due.unfinished[0], found, 'overlap:skip')
    case 'queue-one':
      return newestUnless(firstWaiting(due.unfinished), found, 'overlap:queue-one')
    case 'cancel-running':
      return newestInstead('cancel', found, 'overlap:cancel-running')
    case 'terminate-running':
      return newestInstead('terminate', found, 'overlap:terminate-running')
  }
}

interface Found {
  readonly due: DueTrigger
  readonly schedule: Schedule
  readonly candidates: readonly Instant[]
}

function firstWaiting(unfinished: readonly UnfinishedRun[]): UnfinishedRun | undefined {
  return unfinished.find((run) => run.state === 'pending')
}

/** The newest candidate runs, unless an unfinished run blocks them all. */
function newestUnless(blocker: UnfinishedRun | undefined, found: Found, rule: LedgerRule): Resolved {
  if (blocker === undefined) return onlyNewest(found, rule)
  const ranges = rangesOf(found, found.candidates, { reason: 'overlap', rule, blocker: blocker.id })
  return { instants: [], ranges, supersede: undefined }
}

/** The newest candidate replaces the unfinished runs. */
function newestInstead(mode: Supersede['mode'], found: Found, rule: LedgerRule): Resolved {
  const newest = found.candidates.at(-1)
  if (newest === undefined || found.due.unfinished.length === 0) return onlyNewest(found, rule)
  return { ...onlyNewest(found, rule), supersede: { mode, by: triggerRunId(found.due.trigger, newest) } }
}

function onlyNewest(found: Found, rule: LedgerRule): Resolved {
  const newest = found.candidates.at(-1)
  if (newest === undefined || found.candidates.length === 1)
    return { instants: found.candidates, ranges: [], supersede: undefined }
  const blocker = triggerRunId(found.due.trigger, newest)
  const ranges = rangesOf(found, found.candidates.slice(0, -1), { reason: 'collapsed', rule, blocker })
  return { instants: [newest], ranges, supersede: undefined }
}

/** Neighbouring instants are one range. A held stretch between two has its own reason, so it splits them. */
function rangesOf(
  { due, schedule }: Found,
  instants: readonly Instant[],
  met: Pick<LedgerRange, 'reason' | 'rule' | 'blocker'>,
): LedgerRange[] {
  const ranges: LedgerRange[] = []
  for (const at of instants) {
    const last = ranges.at(-1)
    if (last !== undefined && schedule.next(last.lastAt) === at)
      ranges[ranges.length - 1] = { ...last, lastAt: at }
    else ranges.push({ trigger: due.trigger.name, version: due.version, firstAt: at, lastAt: at, ...met })
  }
  return ranges
}
