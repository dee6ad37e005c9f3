import type { RunId } from '../../../kernel/identity/identity.js'
import type { Attempt, AttemptEnd } from '../../../kernel/run/run.js'
import { errorOf, orUndefined, type RunRow } from './run-rows.js'
import { done, running } from './states.js'

/** An attempt's row, with the id of its worker. */
export interface AttemptRow {
  readonly attempt: number
  readonly worker_id: string | null
  readonly claimed_at: number
  readonly started_at: number | null
  readonly ended_at: number
  readonly ended: string
  readonly error: string | null
}

/** The attempts of a run, without gaps: those that were written down, and the one that lives in the run's own row. */
export function attemptsIn(row: RunRow, rows: readonly AttemptRow[]): Attempt[] {
  const recorded = rows.map((attempt) => attemptOf(row.id, attempt))
  const isInRow = row.state === running || (row.state === done && recorded.length < row.attempt)
  return isInRow ? [...recorded, attemptInRow(row)] : recorded
}

function attemptOf(id: RunId, row: AttemptRow): Attempt {
  return {
    run: id,
    attempt: row.attempt,
    worker: orUndefined(row.worker_id),
    claimedAt: row.claimed_at,
    startedAt: orUndefined(row.started_at),
    endedAt: row.ended_at,
    end: row.ended as AttemptEnd,
    error: errorOf(row.error),
  }
}

function attemptInRow(row: RunRow): Attempt {
  return {
    run: row.id,
    attempt: row.attempt,
    worker: orUndefined(row.worker_id),
    claimedAt: row.claimed_at ?? row.created_at,
    startedAt: orUndefined(row.started_at),
    endedAt: orUndefined(row.finished_at),
    end: row.state === done ? 'done' : undefined,
    error: undefined,
  }
}
