import type { Feature } from '../feature.js'

/** The feature `migrate`. */
export const migrate = { name: 'migrate' } as const satisfies Feature
