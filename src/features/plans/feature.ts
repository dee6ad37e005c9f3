import { featureConfig } from '../feature-config.js'
import type { Feature } from '../feature.js'
import type { PlansConfig } from './config.js'

/** The feature `plans` without its object on the app. */
export const feature = {
  name: 'plans',
  up: async () => (await import('./up.js')).planOption,
  routes: async () => (await import('./routes.js')).planRoutes,
  commands: {
    plan: {
      summary: 'check a plan file, or enqueue one entry',
      group: 'from-cron',
      load: async (program) => (await import('./commands.js')).plan(program),
    },
    schedule: {
      summary: 'enqueue the due entries of a plan, once',
      group: 'from-cron',
      load: async (program) => (await import('./pass/schedule-command.js')).schedule(program),
    },
    work: {
      summary: 'perform one run of a queue directory',
      group: 'from-cron',
      load: async (program) => (await import('./queue/work-command.js')).work(program),
    },
    queue: {
      summary: 'list and repair a queue directory',
      group: 'from-cron',
      load: async (program) => (await import('./queue/commands.js')).queue(program),
    },
  },
  missedCommand: async (context, app, trigger) =>
    (await import('./enqueue-command.js')).enqueueCommand(context, app, trigger),
  withoutEngine: async (active) => (await import('./source.js')).withoutEngine(active),
  readFiles: async () => (await import('./named-plans.js')).readPlanFiles,
  config: featureConfig<PlansConfig>(['plans'], () => import('./config.js')),
} as const satisfies Feature
