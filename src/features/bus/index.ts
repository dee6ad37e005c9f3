import type { AppContext } from '../app-context.js'
import type { Feature } from '../feature.js'
import { AppBus } from './api.js'

export type { Bus, BusMessage } from './messages.js'
export type { Subscription } from './work.js'

/** The feature `bus`. */
export const bus = {
  name: 'bus',
  api: (context: AppContext) => new AppBus(context),
} as const satisfies Feature
