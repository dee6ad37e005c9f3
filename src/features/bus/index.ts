import type { AppContext } from '../app-context.js'
import type { AppFeature } from '../feature.js'
import { AppBus } from './api.js'
import { feature } from './feature.js'

export type { Bus, BusMessage } from './messages.js'
export type { Subscription } from './work.js'

/** The feature `bus`. */
export const bus = {
  ...feature,
  api: (context: AppContext) => new AppBus(context),
} as const satisfies AppFeature
