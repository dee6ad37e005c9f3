import { featureConfig } from '../feature-config.js'
import type { Feature } from '../feature.js'
import type { RoundsConfig } from './config.js'
import { serviceEffect } from './end-effect.js'

/** The feature `rounds` without its object on the app. */
export const feature = {
  name: 'rounds',
  config: featureConfig<RoundsConfig>(['rounds'], () => import('./config.js')),
  kinds: async () => [(await import('./kind.js')).roundKind],
  endEffects: [serviceEffect],
  notices: async () => (await import('./notice.js')).roundNotices,
  routes: async () => (await import('./routes.js')).roundRoutes,
  commands: {
    round: {
      summary: 'start, stop and inspect rounds',
      group: 'features',
      load: async () => (await import('./commands.js')).round,
    },
  },
} as const satisfies Feature
