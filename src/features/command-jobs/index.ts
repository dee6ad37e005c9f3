import type { AppContext } from '../app-context.js'
import type { Feature } from '../feature.js'
import { Commands } from './api.js'

export type { JobsFileCheck } from './api.js'
export type { AddJob } from './command-jobs.js'
export type { ImportOptions, ImportedLine } from './import.js'
export type { CommandJobInfo } from './state.js'

/** The feature `command-jobs`. */
export const commands = {
  name: 'command-jobs',
  api: (context: AppContext) => new Commands(context),
  handlers: async () => (await import('./unclaimed.js')).commandHandlers,
  endEffects: async () => [(await import('./end-effect.js')).onceEffect],
  up: async () => (await import('./jobs-option.js')).jobsFileOption,
  commands: {
    job: {
      summary: 'add, list and remove command jobs',
      group: 'features',
      load: async () => (await import('./commands.js')).job,
    },
    import: {
      summary: 'import command jobs from a JSONL file',
      group: 'features',
      load: async () => (await import('./import-command.js')).importCommand,
    },
    export: {
      summary: 'export command jobs as a JSONL file',
      group: 'features',
      load: async () => (await import('./export-command.js')).exportCommand,
    },
  },
} as const satisfies Feature
