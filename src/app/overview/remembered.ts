import type { Instant } from '../../time/instant.js'

/**
 * Caches an answer while it is fresh and was computed from the same state. Calls during the computation wait for the
 * same answer.
 */
export function remembered<Answer>(forMs: number): Remember<Answer> {
  let known: { readonly at: Instant; readonly state: number; readonly answer: Promise<Answer> } | undefined
  return ({ now, state }, workOut) => {
    const isFresh = known !== undefined && now >= known.at && now - known.at < forMs
    if (known !== undefined && isFresh && known.state === state) return known.answer
    const answer = workOut()
    known = { at: now, state, answer }
    answer.catch(() => {
      if (known?.answer === answer) known = undefined
    })
    return answer
  }
}

/** Returns the cached answer, or computes it. */
export type Remember<Answer> = (
  of: { readonly now: Instant; readonly state: number },
  workOut: () => Promise<Answer>,
) => Promise<Answer>
