import type { Feature } from '../feature.js'

/** The feature `plans`. */
export const plans = { name: 'plans' } as const satisfies Feature
