import type { Instant } from '../time/instant.js'
import type { Schedule } from '../time/schedule.js'
import type { RunId } from './identity.js'
import type { LedgerRange, LedgerRule } from './ledger.js'
import { triggerRunId } from './occurrence.js'
import type { DueTrigger, UnfinishedRun } from './trigger.js'

/** What a new run does to the older unfinished runs of its trigger. */
export interface Supersede {
  /** `cancel` asks the holder to stop and waits for it; `terminate` closes its claim at once. */
  readonly mode: 'cancel' | 'terminate'
  readonly by: RunId
}

/** Which candidates become runs beside what is unfinished, and what the others met. */
export interface Resolved {
  readonly instants: readonly Instant[]
  readonly ranges: readonly LedgerRange[]
  readonly supersede: Supersede | undefined
}

/** Decides, oldest first, which candidates become runs. That no two run at once is enforced again at the claim. */
export function resolveOverlap(
  due: DueTrigger,
  schedule: Schedule,
  candidates: readonly Instant[],
): Resolved {
  const overlapped = new Overlapped(due, schedule)
  switch (due.trigger.overlap) {
    case 'allow':
    case 'queue-all':
      return { instants: candidates, ranges: [], supersede: undefined }
    case 'skip':
      return keepWhile(overlapped, candidates, {
        rule: 'overlap:skip',
        blockedBy: (unfinished) => unfinished[0],
      })
    case 'queue-one':
      return keepWhile(overlapped, candidates, { rule: 'overlap:queue-one', blockedBy: firstWaiting })
    case 'cancel-running':
      return replace(overlapped, candidates, { mode: 'cancel', rule: 'overlap:cancel-running' })
    case 'terminate-running':
      return replace(overlapped, candidates, { mode: 'terminate', rule: 'overlap:terminate-running' })
  }
}

function firstWaiting(unfinished: readonly UnfinishedRun[]): UnfinishedRun | undefined {
  return unfinished.find((run) => run.state === 'pending')
}

/** A candidate becomes a run unless something that is unfinished blocks it; a run made here blocks the next. */
function keepWhile(
  overlapped: Overlapped,
  candidates: readonly Instant[],
  policy: {
    rule: LedgerRule
    blockedBy: (unfinished: readonly UnfinishedRun[]) => UnfinishedRun | undefined
  },
): Resolved {
  const { due } = overlapped
  const unfinished = [...due.unfinished]
  const instants: Instant[] = []
  for (const at of candidates) {
    const blocker = policy.blockedBy(unfinished)
    if (blocker === undefined) {
      instants.push(at)
      unfinished.push({ id: triggerRunId(due.trigger, at), state: 'pending' })
    } else {
      overlapped.add({ at, rule: policy.rule, blocker: blocker.id })
    }
  }
  return { instants, ranges: overlapped.ranges, supersede: undefined }
}

/** Only the newest candidate runs; it takes the place of the other candidates and of what is unfinished. */
function replace(
  overlapped: Overlapped,
  candidates: readonly Instant[],
  policy: { mode: 'cancel' | 'terminate'; rule: LedgerRule },
): Resolved {
  const newest = candidates.at(-1)
  if (newest === undefined) return { instants: [], ranges: [], supersede: undefined }
  const { due } = overlapped
  const by = triggerRunId(due.trigger, newest)
  for (const at of candidates.slice(0, -1)) overlapped.add({ at, rule: policy.rule, blocker: by })
  const supersede = due.unfinished.length > 0 ? { mode: policy.mode, by } : undefined
  return { instants: [newest], ranges: overlapped.ranges, supersede }
}

/** Collects what was overlapped: neighbouring instants with the same blocker are one range. */
class Overlapped {
  readonly due: DueTrigger
  readonly ranges: LedgerRange[] = []
  readonly #schedule: Schedule

  constructor(due: DueTrigger, schedule: Schedule) {
    this.due = due
    this.#schedule = schedule
  }

  add({ at, rule, blocker }: { at: Instant; rule: LedgerRule; blocker: RunId }): void {
    const last = this.ranges.at(-1)
    // A held stretch may lie between two candidates: its instants have a reason of their own.
    const adjoins = last?.blocker === blocker && this.#schedule.next(last.lastAt) === at
    if (adjoins) this.ranges[this.ranges.length - 1] = { ...last, lastAt: at }
    else this.ranges.push({ ...this.#place(), firstAt: at, lastAt: at, reason: 'overlap', rule, blocker })
  }

  #place(): { trigger: string; version: number } {
    return { trigger: this.due.trigger.name, version: this.due.version }
  }
}
