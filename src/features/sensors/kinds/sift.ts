import { observationProblem } from '../polling/read-poll.js'
import type { InitResult, Observation, PollResult } from '../sensor.js'
import type { Instant } from '../../../time/instant.js'
import { firstSweepState, type Item, type Sweep, type SweepState } from './sweep.js'

/** An item with the way to make an observation of it; none where it is nothing of the user's. May throw. */
export interface Candidate extends Item {
  readonly key: string
  observe(): Observation | undefined
}

/** Takes what is new out of the items that a sweep comes by, in their order. Gives why it had to stop, if it had to. */
export function sift(
  candidates: readonly Candidate[],
  { sweep, at, found }: { sweep: Sweep; at: Instant; found: Observation[] },
): string | undefined {
  for (const candidate of candidates) {
    const verdict = sweep.weigh(candidate, at)
    const observed = verdict.kind === 'new' ? observe(candidate) : undefined
    if (typeof observed === 'string') {
      const problem = `${JSON.stringify(candidate.key)} cannot be reported: ${observed}`
      if (sweep.fail(candidate, problem)) continue
      return `${problem}; nor can too many others, so the rest waits`
    }
    if (observed !== undefined) found.push(observed)
    sweep.pass(candidate, verdict)
  }
  return undefined
}

/** The observation of a candidate, or what is wrong with it: one that cannot be stored would take all others with it. */
function observe(candidate: Candidate): Observation | string | undefined {
  try {
    const observation = candidate.observe()
    return observation && (observationProblem(observation) ?? observation)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** What a poll of a sensor that sweeps came to. */
export function sweepResult(outcome: {
  readonly sweep: Sweep
  readonly isEnded: boolean
  readonly found: readonly Observation[]
  /** What went wrong; said at once only where nothing was found, since an error carries no observations. */
  readonly problem?: string | undefined
}): PollResult<SweepState> {
  const { sweep, isEnded, found, problem } = outcome
  const state = isEnded ? sweep.ended() : sweep.paused()
  const [first, ...others] = found
  if (first !== undefined) {
    const more = !isEnded || state.complaint !== null
    return { kind: 'trigger', observations: [first, ...others], state, more }
  }
  if (problem !== undefined) return { kind: 'error', reason: problem, state }
  if (state.complaint !== null) return complaintOf(state)
  const reason = isEnded ? `nothing new: ${sweep.summary}` : `under way: ${sweep.summary}`
  return { kind: 'no-trigger', state, reason, more: !isEnded }
}

/** The error that an earlier poll left to be said. */
export function complaintOf(state: SweepState): PollResult<SweepState> {
  return { kind: 'error', reason: state.complaint ?? '', state: { ...state, complaint: null } }
}

/** The beginning of every sensor that sweeps; its first poll learns which settings it has. */
export function initSweeps(): InitResult<SweepState> {
  return { kind: 'ok', state: firstSweepState('') }
}

/** The state where it is about these settings, else a new one: another bucket or glob begins with everything. */
export function stateFor(source: string, state: SweepState): SweepState {
  return state.source === source ? state : firstSweepState(source)
}
