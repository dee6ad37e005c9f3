import type { Feature } from '../feature.js'

/** The feature `bus`. */
export const bus = { name: 'bus' } as const satisfies Feature
