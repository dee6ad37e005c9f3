import type { Phase } from '../../../kernel/run/fact.js'
import type { RunState } from '../../../kernel/run/run.js'

/*
 * The states of a run's row. Users see the first three as `pending`: waiting for its instant, claimable, waiting for a
 * concurrency slot. Statements contain them as literals, since a database uses a partial index only if the statement
 * has its condition.
 */
/** Waits for its instant. */
export const delayed = 0
/** Claimable. */
export const ready = 1
/** Waits for a concurrency slot. */
export const blocked = 2
/** Held by a worker. */
export const running = 3
/** Succeeded. */
export const done = 4
/** Failed after its last attempt. */
export const failed = 5
/** Cancelled on request. */
export const cancelled = 6

/** The condition of a blocked row that keeps its slots: it is parked until its rate limit lets it start. */
export const PARKED = `waits_for >= 'rate:' and waits_for < 'rate;'`

/** Whether a blocked row with this `waits_for` is parked. */
export function isParked(waitsFor: string | null): boolean {
  return waitsFor?.startsWith('rate:') === true
}

/** The phases, by the numbers above. */
export const phases: readonly Phase[] = [
  'delayed',
  'ready',
  'blocked',
  'running',
  'done',
  'failed',
  'cancelled',
]

const names: readonly RunState[] = ['pending', 'pending', 'pending', 'running', 'done', 'failed', 'cancelled']

/** The state that users see. */
export function stateName(state: number): RunState {
  return names[state] as RunState
}

/** The row states of a state that users see. */
export function statesOf(name: RunState): readonly number[] {
  return names.flatMap((each, state) => (each === name ? [state] : []))
}
