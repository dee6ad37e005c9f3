import type { Feature } from '../feature.js'

/** The feature `isolation`. */
export const isolation = { name: 'isolation' } as const satisfies Feature
