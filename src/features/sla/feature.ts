import type { Feature } from '../feature.js'

/** The feature `sla`: it judges the deadlines that triggers promise. */
export const feature = {
  name: 'sla',
  loops: async () => [(await import('./loop.js')).slaLoop],
} as const satisfies Feature
