import type { AppContext } from '../app-context.js'
import type { AppFeature } from '../feature.js'
import { Assets } from './api.js'
import { feature } from './feature.js'

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
  ...feature,
  api: (context: AppContext) => new Assets(context),
} as const satisfies AppFeature
