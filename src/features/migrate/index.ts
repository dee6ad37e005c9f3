import type { Feature } from '../feature.js'

/** The feature `migrate`. */
export const migrate = {
  name: 'migrate',
  commands: {
    migrate: {
      summary: 'move a store into another one',
      group: 'stores',
      load: async () => (await import('./commands.js')).migrate,
    },
  },
} as const satisfies Feature
