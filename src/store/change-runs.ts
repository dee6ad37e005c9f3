import type { Json } from '../kernel/definition/json.js'
import type { RunId } from '../kernel/identity/identity.js'
import type { NewRun } from '../kernel/run/run.js'
import type { StateKey } from '../kernel/state/state-entry.js'
import type { Instant } from '../time/instant.js'

/** The part of the store port that changes several runs. */
export interface ChangingRuns {
  /** Records, retries, cancels or advances runs together with the state entry that counts them; changes nothing where that entry has moved on. */
  changeRuns(request: ChangeRuns): Promise<readonly RunChange[] | 'stale'>
}

/** One change of several runs. The state entry says how far it has come: it moves in the same transaction, so that nobody changes a run twice. */
export type ChangeRuns = RunsOfChange & {
  readonly now: Instant
  readonly entry: StateKey & {
    /** The revision it was computed from. */
    readonly revision: number
    /** Its new value, from what became of the runs; called in the transaction, and again where that is repeated. */
    readonly valueAfter: (answers: readonly RunChange[]) => Json
  }
}

/** Runs that exist and what is done with them, or new ones. */
export type RunsOfChange =
  | {
      readonly action: 'retry' | 'cancel' | 'advance'
      readonly runs: readonly RunId[]
      /** Kept by runs that are cancelled. */
      readonly reason: string
    }
  | { readonly action: 'record'; readonly newRuns: readonly NewRun[] }

/** What became of a run, as `retry`, `cancel`, `advance` and `enqueue` answer. */
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

/** The most runs of one such change: others get their turn in between. */
export const mostChangedAtOnce = 100
