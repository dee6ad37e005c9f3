import type { Phase } from '../../../kernel/run/fact.js'
import type { RunState } from '../../../kernel/run/run.js'

/*
 * The states of a run's row. The first three are `pending` to the world: waiting for its instant, free to be
 * claimed, waiting for a concurrency slot. They are written into statements as literals, since a partial index is used
 * only where its condition can be read.
 */
/** Waits for its instant. */
export const delayed = 0
/** Free to be claimed. */
export const ready = 1
/** Waits for a concurrency slot. */
export const blocked = 2
/** Held by a worker. */
export const running = 3
/** Ended well. */
export const done = 4
/** Ended badly. */
export const failed = 5
/** Ended on request. */
export const cancelled = 6

/** The condition on a row that is blocked and keeps its slots: it is parked until its rate limit lets it start. */
export const PARKED = `waits_for >= 'rate:' and waits_for < 'rate;'`

/** Whether a blocked row with this is parked. */
export function isParked(waitsFor: string | null): boolean {
  return waitsFor?.startsWith('rate:') === true
}

/** The same, by the numbers above. */
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

/** The state that the world sees. */
export function stateName(state: number): RunState {
  return names[state] as RunState
}

/** The row states behind a state that the world sees. */
export function statesOf(name: RunState): readonly number[] {
  return names.flatMap((each, state) => (each === name ? [state] : []))
}
