import type { Feature } from '../feature.js'

/** The feature `assets`. */
export const assets = {
  name: 'assets',
  endEffects: async () => [(await import('./end-effect.js')).assetEffect],
} as const satisfies Feature
