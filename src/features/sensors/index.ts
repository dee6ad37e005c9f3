import type { Feature } from '../feature.js'

/** The feature `sensors`. */
export const sensors = {
  name: 'sensors',
  commands: {
    sensor: {
      summary: 'inspect, reset and pause sensors',
      group: 'features',
      load: async () => (await import('./commands.js')).sensor,
    },
  },
} as const satisfies Feature
