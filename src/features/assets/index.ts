import type { Dated } from '../../time/dated.js'
import type { AppContext } from '../app-context.js'
import type { AppFeature } from '../feature.js'
import { Assets } from './api.js'
import { feature } from './feature.js'
import type * as schedules from './schedules.js'
import type * as status from './status.js'

export type { AppAssetOptions, AssetScheduleOptions } from './api.js'
export type { AssetRun, TimeSlice } from './asset-run.js'
export type { BackfillOptions } from './backfill/backfills.js'
export type { BackfillChoice, BackfillPlan } from './backfill/choice.js'
export type { ConfigAsset } from './config.js'
export type { AssetInput, AssetOptions, DependencyInput } from './definition.js'
export type { PartitionState } from './partition-state.js'

/** A schedule of an asset. */
export type AssetSchedule = Dated<schedules.AssetSchedule>

/** An asset in the store. */
export type AssetInfo = Dated<status.AssetInfo>

/** The state of one partition. */
export type PartitionStatus = Dated<status.PartitionStatus>

/** The feature `assets`. */
export const assets = {
  ...feature,
  api: (context: AppContext) => new Assets(context),
} as const satisfies AppFeature
