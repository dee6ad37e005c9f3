import type { Feature } from '../feature.js'

/** The feature `sla`: it checks the deadlines of promises. */
export const feature = {
  name: 'sla',
  loops: async () => [(await import('./loop.js')).slaLoop],
} as const satisfies Feature
