import type { Feature } from '../feature.js'

/** The feature `rounds`. */
export const rounds = { name: 'rounds' } as const satisfies Feature
