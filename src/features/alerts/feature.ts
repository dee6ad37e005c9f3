import { featureConfig } from '../feature-config.js'
import type { Feature } from '../feature.js'
import type { AlertsConfig } from './config.js'

/** The feature `alerts` without its object on the app. */
export const feature = {
  name: 'alerts',
  config: featureConfig<AlertsConfig>(['alerts'], () => import('./config.js')),
  loops: async () => [(await import('./loop.js')).alertLoop],
  routes: async () => (await import('./routes.js')).alertRoutes,
  commands: {
    alert: {
      summary: 'list rules and channels of alerts, send a test message',
      group: 'features',
      load: async () => (await import('./commands.js')).alert,
    },
  },
} as const satisfies Feature
