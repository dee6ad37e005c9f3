import type { Json } from '../kernel/definition/json.js'
import type { RunId } from '../kernel/identity/identity.js'
import type { StateKey } from '../kernel/state/state-entry.js'
import type { Instant } from '../time/instant.js'

/** The part of the store port that changes several runs. */
export interface ChangingRuns {
  /** Retries, cancels or advances runs together with the state entry that counts them; changes nothing where that entry has moved on. */
  changeRuns(request: ChangeRuns): Promise<readonly RunChange[] | 'stale'>
}

/** One change of several runs. The state entry says how far it has come: it moves in the same transaction, so that nobody changes a run twice. */
export interface ChangeRuns {
  readonly action: 'retry' | 'cancel' | 'advance'
  readonly runs: readonly RunId[]
  /** Kept by runs that are cancelled. */
  readonly reason: string
  readonly now: Instant
  readonly entry: StateKey & {
    /** The revision it was computed from. */
    readonly revision: number
    /** Its new value, from what became of the runs; called in the transaction, and again where that is repeated. */
    readonly valueAfter: (answers: readonly RunChange[]) => Json
  }
}

/** What became of a run, as `retry`, `cancel` and `advance` answer. */
export type RunChange =
  | 'pending'
  | 'cancelled'
  | 'requested'
  | 'advanced'
  | 'not-final'
  | 'final'
  | 'not-waiting'
  | 'absent'

/** The most runs of one such change: others get their turn in between. */
export const mostChangedAtOnce = 100
