import type { Json } from '../kernel/definition/json.js'
import type { RunId } from '../kernel/identity/identity.js'
import type { NewRun } from '../kernel/run/run.js'
import type { StateKey } from '../kernel/state/state-entry.js'
import type { Instant } from '../time/instant.js'

/** The part of the store port that changes several runs. */
export interface ChangingRuns {
  /** Records, retries, cancels or advances runs and updates the state entry that counts them; changes nothing if that entry has changed. */
  changeRuns(request: ChangeRuns): Promise<readonly RunChange[] | 'stale'>
}

/** One change of several runs. The state entry has its progress and changes in the same transaction, so no run is changed twice. */
export type ChangeRuns = RunsOfChange & {
  readonly now: Instant
  readonly entry: StateKey & {
    /** The revision it was computed from. */
    readonly revision: number
    /** Its new value from the results for the runs; called in the transaction, and again if that is repeated. */
    readonly valueAfter: (answers: readonly RunChange[]) => Json
  }
}

/** Existing runs and the action on them, or new runs. */
export type RunsOfChange =
  | {
      readonly action: 'retry' | 'cancel' | 'advance'
      readonly runs: readonly RunId[]
      /** Stored with cancelled runs. */
      readonly reason: string
    }
  | { readonly action: 'record'; readonly newRuns: readonly NewRun[] }

/** The result for one run, as `retry`, `cancel`, `advance` and `enqueue` return it. */
export type RunChange =
  | 'recorded'
  | 'existing'
  | 'pending'
  | 'cancelled'
  | 'requested'
  | 'advanced'
  | 'not-final'
  | 'final'
  | 'not-waiting'
  | 'absent'

/** The most runs of one such change: other work continues in between. */
export const mostChangedAtOnce = 100
