import type { Feature } from '../feature.js'

/** The feature `assets`. */
export const assets = { name: 'assets' } as const satisfies Feature
