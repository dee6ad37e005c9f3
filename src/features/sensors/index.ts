import type { Feature } from '../feature.js'

/** The feature `sensors`. */
export const sensors = { name: 'sensors' } as const satisfies Feature
