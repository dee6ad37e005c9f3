import type { Json } from '../../../kernel/definition/json.js'
import type { Observation, PollResult } from '../sensor.js'

/** A state that may hold an error, which the next poll reports before it does anything else. */
type Complaining = Readonly<Record<string, Json>> & { readonly complaint?: string | null }

/** The result of a poll that reads one part of its source after another. */
export function pageResult<State extends Complaining>(page: {
  readonly found: readonly Observation[]
  readonly state: State
  readonly hasMore: boolean
  /** Reported at once only if nothing was found: an error result has no observations. */
  readonly problem: string | undefined
  /** Why nothing was found. */
  readonly reason: string
}): PollResult<State> {
  const { found, state, hasMore, problem, reason } = page
  const [first, ...others] = found
  const hasComplaint = typeof state.complaint === 'string'
  if (first !== undefined)
    return { kind: 'trigger', observations: [first, ...others], state, more: hasMore || hasComplaint }
  if (problem !== undefined) return { kind: 'error', reason: problem, state }
  return complaintOf(state) ?? { kind: 'no-trigger', reason, state, more: hasMore }
}

/** The error that an earlier poll left to report. */
export function complaintOf<State extends Complaining>(state: State): PollResult<State> | undefined {
  const { complaint } = state
  if (typeof complaint !== 'string') return undefined
  return { kind: 'error', reason: complaint, state: { ...state, complaint: null } }
}
