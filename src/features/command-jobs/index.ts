import type { Feature } from '../feature.js'

/** The feature `command-jobs`. */
export const commandJobs = {
  name: 'command-jobs',
  endEffects: async () => [(await import('./end-effect.js')).onceEffect],
} as const satisfies Feature
