import type { AppContext } from '../app-context.js'
import { featureConfig } from '../feature-config.js'
import type { Feature } from '../feature.js'
import { Assets } from './api.js'
import type { AssetsConfig } from './config.js'

export type { AppAssetOptions, AssetScheduleOptions } from './api.js'
export type { AssetRun, TimeSlice } from './asset-run.js'
export type { Backfill } from './backfill/backfill.js'
export type { BackfillOptions, BackfillStatus } from './backfill/backfills.js'
export type { BackfillChoice, BackfillOrder, BackfillPlan } from './backfill/choice.js'
export type { ConfigAsset } from './config.js'
export type { AssetInput, AssetOptions, DependencyInput } from './definition.js'
export type { PartitionState } from './partition-state.js'
export type { AssetSchedule } from './schedules.js'
export type { AssetInfo, PartitionStatus } from './status.js'

/** The feature `assets`. */
export const assets = {
  name: 'assets',
  api: (context: AppContext) => new Assets(context),
  kinds: async () => [(await import('./kind.js')).upstreamKind],
  handlers: async () => ({ wrap: (await import('./asset-run.js')).assetHandler }),
  config: featureConfig<AssetsConfig>(['assets', 'schedules'], () => import('./config.js')),
  endEffects: async () => [(await import('./end-effect.js')).assetEffect],
  commands: {
    asset: {
      summary: 'list, show, make and backfill assets',
      group: 'features',
      load: async () => (await import('./commands.js')).asset,
    },
  },
} as const satisfies Feature
