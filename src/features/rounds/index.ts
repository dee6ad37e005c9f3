import type { Feature } from '../feature.js'

/** The feature `rounds`. */
export const rounds = {
  name: 'rounds',
  endEffects: async () => [(await import('./end-effect.js')).serviceEffect],
} as const satisfies Feature
