import type { EndEffects } from '../../kernel/run/end-effect.js'
import type { Store } from '../port.js'

/** Memory stores that outlive the app that opened them, by the name behind `memory:`. Tests put theirs here. */
export const sharedStores = new Map<string, (endEffects: EndEffects) => Store>()
