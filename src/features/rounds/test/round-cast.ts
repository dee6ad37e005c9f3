import { defineRound, type RoundInput } from '../definition.js'
import type { CastPart } from '../../../../test/fixtures/engine-stage.js'

/** Rounds of a simulated process, by name. */
export function roundCast(rounds: Readonly<Record<string, RoundInput>>): CastPart {
  return { triggers: () => Object.entries(rounds).map(([name, input]) => defineRound(name, input)) }
}
