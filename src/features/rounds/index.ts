import type { Feature } from '../feature.js'

/** The feature `rounds`. */
export const rounds = {
  name: 'rounds',
  endEffects: async () => [(await import('./end-effect.js')).serviceEffect],
  commands: {
    round: {
      summary: 'start, stop and inspect rounds',
      group: 'features',
      load: async () => (await import('./commands.js')).round,
    },
  },
} as const satisfies Feature
