import type { Feature } from '../feature.js'

/** The feature `bus` without its object on the app. */
export const feature = {
  name: 'bus',
} as const satisfies Feature
