import { featureConfig } from '../feature-config.js'
import type { Feature } from '../feature.js'
import type { AssetsConfig } from './config.js'
import { assetEffect } from './end-effect.js'

/** The feature `assets` without its object on the app. */
export const feature = {
  name: 'assets',
  kinds: async () => [(await import('./kind.js')).upstreamKind],
  handlers: async () => ({ wrap: (await import('./asset-run.js')).assetHandler }),
  config: featureConfig<AssetsConfig>(['assets', 'schedules'], () => import('./config.js')),
  backfills: async () => [(await import('./backfill/backfills.js')).assetBackfill],
  endEffects: [assetEffect],
  routes: async () => (await import('./routes.js')).assetRoutes,
  commands: {
    asset: {
      summary: 'list, show, make and backfill assets',
      group: 'features',
      load: async () => (await import('./commands.js')).asset,
    },
  },
} as const satisfies Feature
