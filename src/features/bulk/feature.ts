import type { Feature } from '../feature.js'

/** The feature `bulk` without its object on the app. */
export const feature = {
  name: 'bulk',
  loops: async () => [(await import('./loop.js')).bulkLoop],
  routes: async () => (await import('./routes.js')).bulkRoutes,
  commands: {
    bulk: {
      summary: 'list, show and abort actions on many runs',
      group: 'features',
      load: async () => (await import('./commands.js')).bulk,
    },
  },
  extensions: {
    retry: async () => (await import('./extension.js')).retryMany,
    cancel: async () => (await import('./extension.js')).cancelMany,
    run: async () => (await import('./extension.js')).runMany,
  },
} as const satisfies Feature
