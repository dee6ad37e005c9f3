import { featureConfig } from '../feature-config.js'
import type { Feature } from '../feature.js'
import type { PingsConfig } from './config.js'

/** The feature `pings`: it reports to external services that runs begin and end, and that the scheduler works. */
export const feature = {
  name: 'pings',
  config: featureConfig<PingsConfig>(['ping'], () => import('./config.js')),
  loops: async () => [(await import('./loop.js')).pingLoop],
  handlers: async () => (await import('./job.js')).pingHandlers,
} as const satisfies Feature
