import type { AppContext } from '../app-context.js'
import type { AppFeature } from '../feature.js'
import { Plans } from './api.js'
import { feature } from './feature.js'

/** The feature `plans`. */
export const plans = {
  ...feature,
  api: (context: AppContext) => new Plans(context),
} as const satisfies AppFeature
