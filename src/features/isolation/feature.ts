import type { Feature } from '../feature.js'

/** The feature `isolation` without its object on the app. */
export const feature = {
  name: 'isolation',
  handlers: async () => (await import('./run.js')).isolationHandlers,
} as const satisfies Feature
