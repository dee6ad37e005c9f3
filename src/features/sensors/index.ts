import { featureConfig } from '../feature-config.js'
import type { Feature } from '../feature.js'
import type { SensorsConfig } from './config.js'

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
  config: featureConfig<SensorsConfig>(['sensors'], () => import('./config.js')),
} as const satisfies Feature
