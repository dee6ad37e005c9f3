import type { AppContext } from '../app-context.js'
import type { Feature } from '../feature.js'
import { AppBus } from './api.js'

/** The feature `bus`. */
export const bus = {
  name: 'bus',
  api: (context: AppContext) => new AppBus(context),
} as const satisfies Feature
