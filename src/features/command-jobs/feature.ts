import type { Feature } from '../feature.js'
import { onceEffect } from './end-effect.js'

/** The feature `command-jobs` without its object on the app. */
export const feature = {
  name: 'command-jobs',
  handlers: async () => (await import('./unclaimed.js')).commandHandlers,
  endEffects: [onceEffect],
  up: async () => (await import('./jobs-option.js')).jobsFileOption,
  routes: async () => (await import('./routes.js')).commandJobRoutes,
  commands: {
    job: {
      summary: 'add, list and remove command jobs',
      group: 'features',
      load: async () => (await import('./commands.js')).job,
    },
    import: {
      summary: 'import command jobs from a JSONL file',
      group: 'features',
      load: async () => (await import('./transfer/import-command.js')).importCommand,
    },
    export: {
      summary: 'export command jobs as a JSONL file',
      group: 'features',
      load: async () => (await import('./transfer/export-command.js')).exportCommand,
    },
  },
} as const satisfies Feature
