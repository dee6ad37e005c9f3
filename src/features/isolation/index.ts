import type { Feature } from '../feature.js'

/** The feature `isolation`. */
export const isolation = {
  name: 'isolation',
  handlers: async () => (await import('./run.js')).isolationHandlers,
} as const satisfies Feature
