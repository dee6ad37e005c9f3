import type { Instant } from '../../time/instant.js'

/**
 * Gives an answer again while it is fresh and was worked out from the same state. Whoever asks while it is being worked
 * out waits for the same one.
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

/** The answer that is known, or the one that is worked out. */
export type Remember<Answer> = (
  of: { readonly now: Instant; readonly state: number },
  workOut: () => Promise<Answer>,
) => Promise<Answer>
