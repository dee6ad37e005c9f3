import type { Feature } from '../feature.js'

/** The feature `command-jobs`. */
export const commandJobs = { name: 'command-jobs' } as const satisfies Feature
