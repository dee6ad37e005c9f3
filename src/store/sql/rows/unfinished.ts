import type { EndedRun } from '../../../kernel/run/end-effect.js'
import type { FinalState } from '../../../kernel/run/run.js'
import type { Instant } from '../../../time/instant.js'
import { errorOf, orUndefined } from './run-rows.js'
import { cancelled, done, failed } from './states.js'

/** The columns of an unfinished run that are needed to change its state. */
export interface Unfinished {
  readonly seq: number
  readonly id: string
  readonly job: string
  readonly state: number
  readonly attempt: number
  readonly worker: number | null
  readonly claimed_at: number | null
  readonly gates: string | null
  readonly waits_for: string | null
  readonly follow: number | null
  readonly trigger: string | null
  readonly cancel_requested: number | null
  readonly reason: string | null
}

/** The columns of an unfinished run. */
export const UNFINISHED_COLUMNS = `seq, id, job, state, attempt, worker, claimed_at, gates, waits_for, follow, trigger,
  cancel_requested, reason`

/** How a run ends. */
export interface RunEnd {
  readonly state: FinalState
  readonly at: Instant
  readonly reason: string | undefined
}

/** The code of a final state in a row. */
export const finalCodes: Readonly<Record<FinalState, number>> = { done, failed, cancelled }

/** The columns of a run that has just ended. */
export interface EndedRow {
  readonly partition: string | null
  readonly due_at: number
  readonly started_at: number | null
  readonly error: string | null
}

/** A run that has just ended, with the code of an effect that changes only state entries. */
export interface EffectiveEnd {
  readonly follow: number
  readonly run: EndedRun
}

/** A run that has just ended, in the form that end effects need. */
export function endedRunOf(
  { id, job, trigger }: Pick<Unfinished, 'id' | 'job' | 'trigger'>,
  row: EndedRow,
  end: RunEnd,
): EndedRun {
  return {
    id,
    job,
    trigger: orUndefined(trigger),
    partition: orUndefined(row.partition),
    dueAt: row.due_at,
    startedAt: orUndefined(row.started_at),
    error: errorOf(row.error),
    ...end,
  }
}
