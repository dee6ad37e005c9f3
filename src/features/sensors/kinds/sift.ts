import { observationProblem } from '../polling/read-poll.js'
import type { InitResult, Observation, PollResult } from '../sensor.js'
import type { Instant } from '../../../time/instant.js'
import { messageOf } from './body-pick.js'
import { firstSweepState, type Item, type Sweep, type SweepState } from './sweep.js'

/** An item that can be turned into an observation; undefined leaves it out. May throw. */
export interface Candidate extends Item {
  readonly key: string
  observe(): Observation | undefined
}

/** Selects the new items of a sweep, in order; returns the reason if it had to stop. */
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

/** The observation of a candidate, or its problem: one observation that cannot be stored would make all others fail. */
function observe(candidate: Candidate): Observation | string | undefined {
  try {
    const observation = candidate.observe()
    return observation && (observationProblem(observation) ?? observation)
  } catch (error) {
    return messageOf(error)
  }
}

/** The result of a poll of a sweeping sensor. */
export function sweepResult(outcome: {
  readonly sweep: Sweep
  readonly isEnded: boolean
  readonly found: readonly Observation[]
  /** A problem; reported immediately only if nothing was found, since an error result has no observations. */
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
  const reason = isEnded ? `nothing new: ${sweep.summary}` : `in progress: ${sweep.summary}`
  return { kind: 'no-trigger', state, reason, more: !isEnded }
}

/** The error that an earlier poll left to report. */
export function complaintOf(state: SweepState): PollResult<SweepState> {
  return { kind: 'error', reason: state.complaint ?? '', state: { ...state, complaint: null } }
}

/** The initial state of a sweeping sensor; its first poll adds the settings. */
export function initSweeps(): InitResult<SweepState> {
  return { kind: 'ok', state: firstSweepState('') }
}

/** The state if it belongs to these settings, otherwise a new one: another bucket or glob starts from the beginning. */
export function stateFor(source: string, state: SweepState): SweepState {
  return state.source === source ? state : firstSweepState(source)
}
