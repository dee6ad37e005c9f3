import type { Instant } from '../../time/instant.js'

/** Gives an answer again while it is fresh. Whoever asks while it is being worked out waits for the same one. */
export function remembered<Answer>(forMs: number): Remember<Answer> {
  let known: { readonly at: Instant; readonly answer: Promise<Answer> } | undefined
  return (now, workOut) => {
    if (known !== undefined && now >= known.at && now - known.at < forMs) return known.answer
    const answer = workOut()
    known = { at: now, answer }
    answer.catch(() => {
      if (known?.answer === answer) known = undefined
    })
    return answer
  }
}

/** The answer that is known, or the one that is worked out. */
export type Remember<Answer> = (now: Instant, workOut: () => Promise<Answer>) => Promise<Answer>
