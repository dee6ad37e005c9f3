import type { planRound } from '../plan.js'
import type { roundFacts } from '../facts.js'
import type { Store } from '../../../store/port.js'

/** Plans and performs until nothing is due any more for the rounds of a player. */
export class Player {
  constructor(options: {
    readonly store: Store
    readonly planRound: typeof planRound
    readonly roundFacts: typeof roundFacts
    readonly prefix: string
    readonly worker: string
    readonly services: readonly string[]
    readonly seed: number
  })
  join(now: number): Promise<void>
  play(now: number): Promise<void>
}
