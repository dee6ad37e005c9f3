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

/** Why the due instants from `firstAt` to `lastAt`, both included, have no run; one with its own run is not meant. */
export interface LedgerRange {
  readonly trigger: string
  readonly version: number
  readonly firstAt: Instant
  readonly lastAt: Instant
  readonly reason: LedgerReason
  readonly rule: LedgerRule
  /** The run that blocked the range, or into which it was collapsed. */
  readonly blocker?: RunId | undefined
  /** For a hold: who and why. For a pruned range: the number of runs per outcome. */
  readonly detail?: string | undefined
}

/** Whether a range only adds to an earlier one for the same instant. */
export function isAddition({ rule }: Pick<LedgerRange, 'rule'>): boolean {
  return rule === 'round:later'
}

/** A range with the time of its decision. */
export interface RecordedRange extends LedgerRange {
  readonly recordedAt: Instant
}
