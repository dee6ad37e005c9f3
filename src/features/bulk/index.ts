import type { Dated } from '../../time/dated.js'
import type { AppContext } from '../app-context.js'
import type { AppFeature } from '../feature.js'
import { Bulks } from './api.js'
import type * as stored from './bulk.js'
import { feature } from './feature.js'

export type { BulkAction } from './bulk.js'
export type { BulkPlan, StartedBulk } from './api.js'
export type { BulkRequest } from './request.js'

/** An action on many runs, and its progress. */
export type Bulk = Dated<stored.Bulk>

/** The feature `bulk`. */
export const bulk = {
  ...feature,
  api: (context: AppContext) => new Bulks(context),
} as const satisfies AppFeature
