import type { Instant } from '../../time/instant.js'
import type { RunId } from '../identity/identity.js'

/** Why due instants did not become runs. */
export type LedgerReason =
  | 'missed'
  | 'collapsed'
  | 'overlap'
  | 'paused'
  | 'frozen'
  | 'switch'
  | 'blackout'
  | 'calendar'
  | 'pruned'
  | 'checked'

/** Which rule of which policy decided. */
export type LedgerRule =
  | 'catch-up:skip'
  | 'catch-up:latest'
  | 'catch-up:max-age'
  | 'catch-up:max-runs'
  | 'overlap:skip'
  | 'overlap:queue-one'
  | 'overlap:cancel-running'
  | 'overlap:terminate-running'
  | 'partition:none'
  | 'hold'
  | 'blackout'
  | 'calendar:exclude'
  | 'calendar:include'
  | 'calendar:next-day'
  | 'prune'
  | 'round:check'
  | 'round:later'
  | 'round:overlap'

/** What became of a range of due instants without a run: it covers those from `firstAt` to `lastAt`, both included, that have no run of their own. */
export interface LedgerRange {
  readonly trigger: string
  readonly version: number
  readonly firstAt: Instant
  readonly lastAt: Instant
  readonly reason: LedgerReason
  readonly rule: LedgerRule
  /** The run that stood in the way, or into which the range was collapsed. */
  readonly blocker?: RunId | undefined
  /** Who and why, for what somebody did; counts per outcome, for what was pruned. */
  readonly detail?: string | undefined
}

/** Whether a range only adds to one that was recorded before for the same instant. */
export function isAddition({ rule }: Pick<LedgerRange, 'rule'>): boolean {
  return rule === 'round:later'
}

/** A range together with when it was decided. */
export interface RecordedRange extends LedgerRange {
  readonly recordedAt: Instant
}
